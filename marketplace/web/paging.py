"""Pagination of lists: by cursor, and by number."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.paginator import EmptyPage, Paginator
from django.core.paginator import Page as DjangoPage
from django.http import Http404, HttpRequest

from marketplace.api.pagination import Page
from marketplace.core.errors import InvalidInput

MAX_PAGES = 1_000


@contextmanager
def cursor_of(request: HttpRequest) -> Iterator[str | None]:
    """Yield the cursor in the query string, None on the first page; an invalid one raises 404."""
    try:
        yield request.GET.get("after") or None
    except InvalidInput as error:
        raise Http404 from error


def cursor_context(request: HttpRequest, page: Page) -> dict[str, Any]:
    """Return the context of `components/cursor_pagination.html`."""
    following = f"{request.path}?after={page.next_cursor}" if page.next_cursor else ""
    return {"is_later_page": bool(request.GET.get("after")), "first": request.path, "next": following}


def page_number(request: HttpRequest) -> int:
    """Return the number of the page in the query string, 1 without one; anything else raises 404."""
    text = request.GET.get("page", "1")
    # The length first: Python refuses to parse thousands of digits.
    if len(text) > len(str(MAX_PAGES)) or not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PAGES:
        raise Http404
    return int(text)


def page_of(request: HttpRequest, rows: Any, size: int) -> DjangoPage[Any]:
    """Return the page of rows whose number is in the query string; 404 if there is none."""
    try:
        return Paginator(rows, size).page(page_number(request))
    except EmptyPage as error:
        raise Http404 from error


def page_context(page: DjangoPage[Any], query: str = "") -> dict[str, Any]:
    """Return the context of `components/pagination.html` for a page of `page_of`; `query` stands before the number in its links."""
    return {"current": page.number, "pages": page_links(page.number, page.paginator.num_pages, lambda number: f"?{query}page={number}")}


def page_links(current: int, pages: int, address: Callable[[int], str]) -> list[tuple[int, str]]:
    """Return the number and address of each page to link to: the first and last, and the neighbours; the number is 0 where some are left out."""
    pages = max(pages, 1)
    numbers = Paginator(range(pages), 1).get_elided_page_range(min(current, pages), on_each_side=1, on_ends=1)
    return [(number, address(number)) if isinstance(number, int) else (0, "") for number in numbers]
