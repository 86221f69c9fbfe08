"""Sends crash reports to Sentry if `SENTRY_DSN` is set; imported only then.

A report names the code location, the route and the request id. It has no body, cookie, header, query or variable: any of
them may contain secrets or personal data.
"""

from typing import Any

import sentry_sdk
from django.conf import settings
from sentry_sdk.integrations.django import DjangoIntegration
from sentry_sdk.transport import Transport

from marketplace.core.ids import current_request_id

from .logs import redacted

# Stricter than the library's older option, `send_default_pii=False`.
_DATA_COLLECTION: Any = {
    "user_info": False,
    "cookies": {"mode": "off"},
    "http_headers": {"request": {"mode": "off"}, "response": {"mode": "off"}},
    "http_bodies": [],
    "url_query_params": {"mode": "off"},
    "database_query_data": False,
    "queues": False,
    "stack_frame_variables": False,
}


def start(transport: Transport | None = None) -> None:
    """Start reporting, by HTTP unless a transport is given."""
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        environment=settings.SENTRY_ENVIRONMENT,
        transport=transport,
        data_collection=_DATA_COLLECTION,
        traces_sample_rate=0,
        auto_enabling_integrations=False,
        integrations=[DjangoIntegration(middleware_spans=False)],
        before_send=_scrubbed,
        before_breadcrumb=lambda crumb, _hint: _clean(crumb),
    )


def _scrubbed(event: Any, _hint: Any) -> Any:
    request = event.get("request")
    if request:
        event["request"] = {name: request[name] for name in ("method", "url") if name in request}
        event["request"]["url"] = str(request.get("url", "")).partition("?")[0]
    event.pop("user", None)
    event.setdefault("tags", {})["request_id"] = current_request_id()
    return _clean(event)


def _clean(value: Any) -> Any:
    """Return the JSON value with all texts redacted."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, (list, tuple)) else value
