"""Usage pages of apps, keys and tokens over a day, a week or a month."""

import uuid
from collections.abc import Sequence

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode

from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.ids import parse_id
from marketplace.ui.charts import Span

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
    span, chosen = _selection(request, credentials)
    usage = usage_of_app(app, credentials, span=span) if chosen is None else usage_of_credentials([chosen], span=span)
    back = {"title": app.name, "back": reverse("app-detail", args=[app.pk])}
    return _page(request, usage, credentials, chosen, back)


@signed_in_page("GET")
def token_usage(request: SignedInRequest) -> HttpResponseBase:
    """Show the usage of the user's personal tokens, or of one of them."""
    tokens = list(selectors.tokens_without_app_of(request.user))
    span, chosen = _selection(request, tokens)
    usage = usage_of_credentials(tokens if chosen is None else [chosen], span=span)
    return _page(request, usage, tokens, chosen, {"title": "Personal tokens", "back": reverse("tokens")})


def _selection(request: SignedInRequest, credentials: Sequence[Credential]) -> tuple[Span, Credential | None]:
    """Return the span and the key or token named in the query string; an unknown one is not found."""
    span = SPANS.get(request.GET.get("last", MONTH.key))
    named = request.GET.get("of", "")
    chosen = next((each for each in credentials if each.pk == parse_id(named)), None)
    if span is None or (named and chosen is None):
        raise Http404
    return span, chosen


def _page(
    request: SignedInRequest, usage: Usage, credentials: Sequence[Credential], chosen: Credential | None, back: dict[str, str]
) -> HttpResponseBase:
    of = {} if chosen is None else {"of": str(chosen.pk)}
    context = {
        "usage": usage,
        "chart": chart_of(usage, calls_per_minute=chosen.calls_per_minute if isinstance(chosen, ApiKey) else None),
        "spans": [(span, f"?{urlencode({'last': span.key} | of)}") for span in SPANS.values()],
        "credentials": credentials,
        "chosen": chosen,
    }
    return render(request, "developers/usage_page.html", context | back)
