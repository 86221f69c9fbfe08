"""The start page, robots.txt and the favicon."""

from collections import Counter

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog.selectors.browse import Row
from catalog.selectors.cards import featured_cards, popular_cards
from catalog.selectors.taxonomy import active_tiers, categories_with_counts
from wallet.bounds import QUOTE_MINUTES

from ..docs.rendering import code_html
from ..shop.currency import currency_of, remember_currency

PICTURES = 4
CARDS = 8
# From this many popular listings, some of every category are shown.
CANDIDATES = 60
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
    """Show what the service is, what is on sale, and where to go."""
    categories = list(categories_with_counts())
    featured = featured_cards(limit=CARDS)
    popular = [card for card in _from_every_category(popular_cards(limit=CANDIDATES)) if card not in featured]
    hero_cards = [card for card in popular + featured if card["picture"]][:PICTURES]
    context = {
        "categories": categories,
        "listings": sum(getattr(category, "asset_count", 0) for category in categories),
        "licenses": len(active_tiers()),
        "hero_cards": hero_cards,
        "featured": featured,
        "popular": [card for card in popular if card not in hero_cards][:CARDS] or popular[:CARDS],
        "currency": currency_of(request),
        "quote_minutes": QUOTE_MINUTES,
        "example": code_html(EXAMPLE.format(base_url=settings.BASE_URL), "bash"),
        "canonical": f"{settings.BASE_URL}/",
        "description": "Fonts, motion templates, presets and AI skills, reviewed by people and sold with clear licences. "
        "Browse, buy and build with a REST API.",
    }
    return remember_currency(request, render(request, "pages/landing.html", context))


def _from_every_category(cards: list[Row]) -> list[Row]:
    """Return the cards interleaved: the first of every category, then the second, each in the original order."""
    seen: Counter[str] = Counter()
    ranked = []
    for card in cards:
        ranked.append((seen[card["category_slug"]], card))
        seen[card["category_slug"]] += 1
    return [card for _, card in sorted(ranked, key=lambda pair: pair[0])]


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Exclude private pages from crawling. Preferences for AI training are headers, because checkers refuse other lines here."""
    private = ("/dashboard", "/account/", "/admin/", "/checkout/", "/api/v1/downloads/", "/suggest")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in private), f"Sitemap: {settings.BASE_URL}{reverse('sitemap')}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Redirect to the icon."""
    return redirect(static("favicon.svg"))
