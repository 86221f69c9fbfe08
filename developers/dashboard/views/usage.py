"""Usage pages of apps, keys and tokens over a day, a week or a month."""

import uuid
from collections.abc import Callable, Sequence
from functools import partial

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.ids import parse_id

from ... import selectors
from ...models import ApiKey
from ...usage.chart import chart_of
from ...usage.selectors import MONTH, SPANS, Usage, usage_of_app, usage_of_credentials
from ..credentials import Credential
from .apps import own_app


@signed_in_page("GET")
def app_usage(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Show the usage of an app, or of one of its keys or MCP tokens."""
    app = own_app(request.user, app_id)
    credentials: list[Credential] = [*selectors.keys_of(app), *selectors.mcp_tokens_of(app)]
    usage_of_all = partial(usage_of_app, app, credentials)
    return _page(request, credentials, usage_of_all, title=app.name, back=reverse("app-detail", args=[app.pk]))


@signed_in_page("GET")
def token_usage(request: SignedInRequest) -> HttpResponseBase:
    """Show the usage of the user's personal tokens, or of one of them."""
    tokens = list(selectors.tokens_without_app_of(request.user))
    return _page(request, tokens, partial(usage_of_credentials, tokens), title="Personal tokens", back=reverse("tokens"))


def _page(
    request: SignedInRequest, credentials: Sequence[Credential], usage_of_all: Callable[..., Usage], **context: str
) -> HttpResponseBase:
    """Show the usage in the span and of the key or token in the query string; an unknown one is not found."""
    span = SPANS.get(request.GET.get("last", MONTH.key))
    named = request.GET.get("of", "")
    chosen = next((each for each in credentials if each.pk == parse_id(named)), None)
    if span is None or (named and chosen is None):
        raise Http404
    usage = usage_of_all(span=span) if chosen is None else usage_of_credentials([chosen], span=span)
    shown = {
        "usage": usage,
        "chart": chart_of(usage, calls_per_minute=chosen.calls_per_minute if isinstance(chosen, ApiKey) else None),
        "spans": SPANS.values(),
        "credentials": credentials,
        "chosen": chosen,
    }
    return render(request, "developers/usage_page.html", shown | context)
