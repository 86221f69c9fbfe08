"""System checks: an API operation that declares no access stops `migrate`, the worker and the tests."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.urls import URLPattern, URLResolver, get_resolver

from marketplace.api.views import ApiViewSet


def api_views(resolver: URLResolver | None = None) -> Iterator[tuple[type[ApiViewSet], dict[str, str]]]:
    """Yield each API viewset in the URL configuration with its map of methods to actions."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from api_views(pattern)
        elif isinstance(pattern, URLPattern):
            view_class = getattr(pattern.callback, "cls", None)
            if isinstance(view_class, type) and issubclass(view_class, ApiViewSet):
                yield view_class, dict(pattern.callback.actions)  # type: ignore[attr-defined]  # set by ViewSetMixin.as_view


@register("access")
def every_operation_declares_access(**_kwargs: Any) -> list[CheckMessage]:
    """Return an error for each operation without a declared access."""
    return [
        Error(
            f"{view_class.__module__}.{view_class.__qualname__}.{action} declares no access.",
            hint="Add it to the viewset's `access`: a scope, or PUBLIC.",
            id="developers.E001",
        )
        for view_class, actions in api_views()
        for action in sorted(set(actions.values()))
        if action not in view_class.access
    ]
