"""The start page, and what robots and browsers ask for at the root."""

from collections import Counter
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog import selectors
from catalog.selectors import Card

from .. import docs
from ..docs.rendering import code_html
from ..shop.currency import currency_of, remember

SHOTS = 4
FEATURED = 8
# The most popular ones, of which some of every category are shown.
LOOKED_THROUGH = 60
# As many as one sitemap may hold, with room for our own pages.
SITEMAP_LISTINGS = 49_000
EXAMPLE = """\
# What is on sale: no key needed
curl {base_url}/api/v1/assets

# Search forgives a typo
curl --get --data q=grotsek \\
     {base_url}/api/v1/assets/search

# What you own, with your key
curl -H "X-Api-Key: $KEY" \\
     {base_url}/api/v1/library
"""


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Say what the service is, show what is for sale, and where to go."""
    categories = list(selectors.categories_with_counts())
    featured = _from_every_category(selectors.cards_on_shelf(limit=LOOKED_THROUGH))
    context = {
        "categories": categories,
        "listings": sum(getattr(category, "asset_count", 0) for category in categories),
        "licenses": len(selectors.active_tiers()),
        "shots": [card for card in featured if card.picture][:SHOTS],
        "featured": featured[SHOTS : SHOTS + FEATURED] or featured,
        "currency": currency_of(request),
        "example": code_html(EXAMPLE.format(base_url=settings.BASE_URL), "bash"),
        "canonical": f"{settings.BASE_URL}/",
        "description": "Fonts, motion templates, presets and AI skills, reviewed by people and sold with clear licences. "
        "Browse, buy and build with a REST API.",
    }
    return remember(request, render(request, "pages/landing.html", context))


def _from_every_category(cards: list[Card]) -> list[Card]:
    """Return the cards in turns: the first of every category, then the second, each in the order they came."""
    places: Counter[str] = Counter()
    turns = []
    for card in cards:
        turns.append((places[card.category[1]], card))
        places[card.category[1]] += 1
    return [card for _, card in sorted(turns, key=lambda turn: turn[0])]


@require_safe
def sitemap(_request: HttpRequest) -> HttpResponse:
    """Name the addresses that search engines may show: our pages, categories, and the newest listings."""
    paths = [reverse("landing"), reverse("browse"), reverse("docs-index")]
    paths += [reverse("docs-page", args=[page.slug]) for page in docs.documents()]
    paths += [f"{reverse('browse')}?category={slug}" for slug, _ in selectors.category_names()]
    addresses: list[tuple[str, datetime | None]] = [(settings.BASE_URL + path, None) for path in paths]
    addresses += [
        (settings.BASE_URL + reverse("asset-page", args=[slug]), changed) for slug, changed in selectors.newest_addresses(SITEMAP_LISTINGS)
    ]
    text = render_to_string("pages/sitemap.xml", {"addresses": addresses})
    return HttpResponse(text, content_type="application/xml; charset=utf-8", headers={"Cache-Control": "public, max-age=3600"})


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Keep crawlers to what is public."""
    private = ("/dashboard", "/account/", "/admin/", "/checkout/", "/api/v1/downloads/", "/suggest")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in private), f"Sitemap: {settings.BASE_URL}{reverse('sitemap')}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Lead browsers that ask for the icon at the root to where it is."""
    return redirect(static("favicon.svg"))
