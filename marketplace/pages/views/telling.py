"""Whether what was typed into a field is right, told while the rest of its form is filled in. Nothing is saved."""

from collections.abc import Callable
from functools import partial

from django import forms
from django.http import Http404, HttpResponseBase, QueryDict
from django.shortcuts import render

from catalog.models import Listing
from catalog.selectors import every_tier
from developers.dashboard.forms import AnswerForm, AppForm, ApplicationForm, RedirectsForm, ScopesForm
from developers.dashboard.webhook_forms import EndpointForm
from developers.telling import telling_page
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from vendors.studio.access import listing_page
from vendors.studio.forms import ApplicationForm as StoreApplicationForm
from vendors.studio.forms import DetailsForm, LicencesForm, NewListingForm, PricesForm, StoreForm

# The forms by the name that their pages give as `told_of`. None of them asks for a password, nor for anything of its user.
FORMS: dict[str, Callable[[QueryDict], forms.Form]] = {
    "application": ApplicationForm,
    "answer": AnswerForm,
    "app": AppForm,
    "scopes": ScopesForm,
    "redirects": RedirectsForm,
    "webhook": EndpointForm,
    "store-application": StoreApplicationForm,
    "store": StoreForm,
    "listing": NewListingForm,
}
# Those that go by what a listing holds already.
LISTING_FORMS: dict[str, Callable[..., forms.Form]] = {
    "details": DetailsForm,
    "prices": PricesForm,
    "licences": lambda data, *, listing: LicencesForm(data, listing=listing, tiers=every_tier()),
}


@telling_page
@signed_in_page("POST")
def told(request: SignedInRequest, form: str, field: str) -> HttpResponseBase:
    """Say what is wrong with one field of a form as it is filled in now."""
    return _answer(request, FORMS.get(form), field)


@telling_page
@listing_page("POST")
def told_of_listing(request: SignedInRequest, listing: Listing, form: str, field: str) -> HttpResponseBase:
    """Say so of a form about the vendor's listing."""
    kind = LISTING_FORMS.get(form)
    return _answer(request, kind and partial(kind, listing=listing), field)


def _answer(request: SignedInRequest, kind: Callable[[QueryDict], forms.Form] | None, field: str) -> HttpResponseBase:
    filled = None if kind is None else kind(request.POST)
    if filled is None or field not in filled.fields:
        raise Http404
    return render(request, "components/told.html", {"field": filled[field]})
