"""The endpoint for events of payment providers, and the page of the test provider."""

from datetime import timedelta
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from marketplace.accounts.pages import posted, render_form
from marketplace.api.problems import json_problem_response
from marketplace.core.errors import BodyTooLarge, Problem
from marketplace.http.refusals import allow_methods
from wallet import bounds
from wallet.models import TopUp
from wallet.models.top_ups import ReversalStatus, TopUpStatus
from wallet.providers import SimulatedProvider, provider_named
from wallet.services.provider_events import receive_event
from wallet.services.simulated_payments import OUTCOMES, VERDICTS, pay
from wallet.services.top_ups import return_url_of

# How long after the user's return a late payment becomes known.
LATE_AFTER = timedelta(seconds=20)


@csrf_exempt
@allow_methods("POST")
def events(request: HttpRequest, provider: str) -> HttpResponse:
    """Receive an event of a payment provider. The length is bounded, then the signature checked, before it is parsed."""
    try:
        receive_event(provider=provider, body=_body(request), headers=request.headers)
    except Problem as problem:
        return json_problem_response(problem, request)
    return JsonResponse({"received": True})


@csrf_exempt
@never_cache
@allow_methods("GET", "POST")
def test_payment(request: HttpRequest, reference: str) -> HttpResponseBase:
    """Show the test provider's page. Like a real one it needs no sign-in: its address is the secret, so no form can be forged."""
    top_up = TopUp.objects.filter(provider=SimulatedProvider.name, page_reference=reference).first()
    if top_up is None or provider_named(SimulatedProvider.name) is None:
        raise Http404
    choices = _choices(top_up)
    form = OutcomeForm(posted(request), choices=choices)
    if choices and form.is_valid():
        pay(top_up=top_up, outcome=form.cleaned_data["outcome"], late_at=timezone.now() + LATE_AFTER)
        if not top_up.return_url:
            return redirect(return_url_of(top_up=top_up))
        return render(request, "pages/test_payment.html", {"top_up": top_up, "done": True})
    return render_form(request, "pages/test_payment.html", form, top_up=top_up, choices=choices)


class OutcomeForm(forms.Form):
    """Asks for the outcome of a payment with the test provider."""

    def __init__(self, *args: Any, choices: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["outcome"] = forms.ChoiceField(
            label="Outcome", choices=list(choices.items()), initial=next(iter(choices), None), widget=forms.RadioSelect
        )


def _choices(top_up: TopUp) -> dict[str, str]:
    """Return the outcomes that a payment can have now."""
    if top_up.status == TopUpStatus.PENDING:
        return OUTCOMES
    if top_up.status == TopUpStatus.SUCCEEDED:
        return {"disputed": OUTCOMES["disputed"]}
    return VERDICTS if top_up.reversals.filter(status=ReversalStatus.OPEN).exists() else {}


def _body(request: HttpRequest) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: it is longer than an event of a provider.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > bounds.PROVIDER_EVENT_BYTES:
        raise BodyTooLarge(maximumBytes=bounds.PROVIDER_EVENT_BYTES)
    return request.body
