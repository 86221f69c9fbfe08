"""Sitemaps: an index, one sitemap of our own pages, and as many as the listings need.

Each is kept in the service's cache until the catalog changes, a minute at most; clients keep it for an hour.
"""

import math
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from xml.sax.saxutils import escape

from django.conf import settings
from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog.catalog_version import current_version
from catalog.selectors.browse import count_listings_on_sale
from catalog.selectors.cards import slugs_on_sale
from catalog.selectors.taxonomy import category_names

from .. import docs

# In each sitemap; the protocol allows 50,000, but a smaller one is built and sent sooner.
LISTINGS = 10_000
CACHE_SECONDS = 60
_BEGIN = '<?xml version="1.0" encoding="UTF-8"?>\n<{name} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


@require_safe
def index(_request: HttpRequest) -> HttpResponse:
    """Return the index of sitemaps."""
    return _xml(reverse("sitemap"), _index)


@require_safe
def sitemap(_request: HttpRequest, number: int) -> HttpResponse:
    """Return the sitemap of our own pages, number 0, or one of listings on sale."""
    # Numbers that do not exist are not cached.
    if number and number > _listing_sitemaps():
        raise Http404
    return _xml(reverse("sitemap-part", args=[number]), partial(_listings, number) if number else _pages)


def _index() -> bytes:
    addresses = (settings.BASE_URL + reverse("sitemap-part", args=[number]) for number in range(_listing_sitemaps() + 1))
    return _document("sitemapindex", (f"<sitemap><loc>{escape(address)}</loc></sitemap>" for address in addresses))


def _pages() -> bytes:
    paths = [reverse("landing"), reverse("browse"), reverse("docs-index")]
    paths += [reverse("docs-page", args=[slug]) for slug in docs.documents()]
    paths += [f"{reverse('browse')}?category={slug}" for slug, _ in category_names()]
    return _document("urlset", (_url(settings.BASE_URL + path) for path in paths))


def _listings(number: int) -> bytes:
    rows = slugs_on_sale((number - 1) * LISTINGS, LISTINGS)
    # The addresses differ only in the slug.
    before = (settings.BASE_URL + reverse("asset-page", args=["slug"])).removesuffix("slug")
    return _document("urlset", (_url(before + slug, changed) for slug, changed in rows))


def _listing_sitemaps() -> int:
    """Return how many sitemaps of listings there are."""
    return math.ceil(count_listings_on_sale() / LISTINGS)


def _url(address: str, changed: datetime | None = None) -> str:
    return f"<url><loc>{escape(address)}</loc>{f'<lastmod>{changed.isoformat()}</lastmod>' if changed else ''}</url>"


def _document(name: str, entries: Iterable[str]) -> bytes:
    return "\n".join([_BEGIN.format(name=name), *entries, f"</{name}>\n"]).encode()


def _xml(address: str, build: Callable[[], bytes]) -> HttpResponse:
    key, version = f"sitemap:{address}", current_version()
    # The version is not in the key, so that a new sitemap, which is large, replaces the old one.
    built_for, body = caches["responses"].get(key, ("", b""))
    if built_for != version:
        body = build()
        caches["responses"].set(key, (version, body), CACHE_SECONDS)
    return HttpResponse(body, content_type="application/xml; charset=utf-8", headers={"Cache-Control": "public, max-age=3600"})
