"""Cursor pagination for pages with lists."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse

from marketplace.api.pagination import Page
from marketplace.core.errors import InvalidInput


@contextmanager
def cursor_of(request: HttpRequest) -> Iterator[str | None]:
    """Yield the cursor in the query string, None on the first page; an invalid one raises 404."""
    try:
        yield request.GET.get("after") or None
    except InvalidInput as error:
        raise Http404 from error


def paging_context(request: HttpRequest, page: Page, route: str) -> dict[str, Any]:
    """Return the context for the links to the next page of a list and to the first."""
    return {"later": bool(request.GET.get("after")), "next": f"{reverse(route)}?after={page.next_cursor}" if page.next_cursor else ""}
