"""Whether what was typed into a field is right, told while the rest of its form is filled in. Nothing is saved."""

from django import forms
from django.http import Http404, HttpResponseBase
from django.shortcuts import render

from marketplace.accounts.pages import SignedInRequest, signed_in_page

from ..forms import AnswerForm, AppForm, ApplicationForm, RedirectsForm, ScopesForm
from ..webhook_forms import EndpointForm

# The forms by the name that their pages give as `told_of`. None of them asks for a password, nor for anything of its user.
FORMS: dict[str, type[forms.Form]] = {
    "application": ApplicationForm,
    "answer": AnswerForm,
    "app": AppForm,
    "scopes": ScopesForm,
    "redirects": RedirectsForm,
    "webhook": EndpointForm,
}


@signed_in_page("POST")
def told(request: SignedInRequest, form: str, field: str) -> HttpResponseBase:
    """Say what is wrong with one field of a form as it is filled in now."""
    kind = FORMS.get(form)
    filled = None if kind is None else kind(request.POST)
    if filled is None or field not in filled.fields:
        raise Http404
    return render(request, "components/told.html", {"field": filled[field]})
