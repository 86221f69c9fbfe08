"""Checks single fields of a form while it is being filled in. Nothing is saved."""

from collections.abc import Callable
from functools import partial

from django import forms
from django.http import Http404, HttpResponseBase, QueryDict
from django.shortcuts import render

from catalog.models import Listing
from catalog.selectors.taxonomy import every_tier
from developers.dashboard.forms import AnswerForm, AppForm, ApplicationForm, RedirectsForm, ScopesForm
from developers.dashboard.webhook_forms import EndpointForm
from marketplace.accounts.pages import SignedInRequest, live_check, signed_in_page
from vendors.studio.access import listing_page
from vendors.studio.forms import NewListingForm, StoreApplicationForm, StoreForm
from vendors.studio.section_forms import LicencesForm, PricesForm, details_form

# Forms by the name that templates pass as `check_form`. None of them asks for a password or depends on its user.
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
# Forms that depend on the listing which they are about.
LISTING_FORMS: dict[str, Callable[..., forms.Form]] = {
    "details": details_form,
    "prices": PricesForm,
    "licences": lambda data, *, listing: LicencesForm(data, listing=listing, tiers=every_tier()),
}


@live_check
@signed_in_page("POST")
def check_field(request: SignedInRequest, form: str, field: str) -> HttpResponseBase:
    """Return the errors of one field of a form as it is filled in now."""
    return _field_errors(request, FORMS.get(form), field)


@live_check
@listing_page("POST")
def check_listing_field(request: SignedInRequest, listing: Listing, form: str, field: str) -> HttpResponseBase:
    """Return the errors of one field of a form about the vendor's listing."""
    make_form = LISTING_FORMS.get(form)
    return _field_errors(request, make_form and partial(make_form, listing=listing), field)


def _field_errors(request: SignedInRequest, make_form: Callable[[QueryDict], forms.Form] | None, field: str) -> HttpResponseBase:
    filled = None if make_form is None else make_form(request.POST)
    if filled is None or field not in filled.fields:
        raise Http404
    return render(request, "components/field_errors.html", {"field": filled[field]})
