"""Lists that go on page by page, each page at an address with the cursor of the page before it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse

from marketplace.api.pagination import Page
from marketplace.core.errors import InvalidInput


@contextmanager
def cursor_of(request: HttpRequest) -> Iterator[str | None]:
    """Yield the cursor in the address, None on the first page. One that is not ours makes the page not found."""
    try:
        yield request.GET.get("after") or None
    except InvalidInput as error:
        raise Http404 from error


def paging_context(request: HttpRequest, page: Page, route: str) -> dict[str, Any]:
    """Return what the template needs to lead to the page that follows, and back to the first.

    Args:
        request: For a page of the list.
        page: The page.
        route: The name of the list's route.
    """
    return {"later": bool(request.GET.get("after")), "next": f"{reverse(route)}?after={page.next_cursor}" if page.next_cursor else ""}
