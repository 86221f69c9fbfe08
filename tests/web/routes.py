"""The routes of the URL configuration."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the route and the name of every address."""
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, route)
        else:
            yield route, each.name or ""
