"""Browsing, searching and suggestions."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from catalog import bounds
from catalog.ai_use import LIST_PREFERENCE
from catalog.search import suggest
from marketplace.core.money import Currency

from ..paging import page_links
from ..shop.currency import currency_of, remember_currency
from ..shop.query import ShopForm
from ..shop.rate_limit import rate_limited
from ..shop.results import results_of


@require_safe
@rate_limited
def browse(request: HttpRequest) -> HttpResponse:
    """Show the filtered catalog; htmx gets only the results."""
    form, currency = ShopForm(request.GET), currency_of(request)
    results = results_of(form, currency)
    context: dict[str, Any] = {
        "form": form,
        "results": results,
        "currency": currency,
        "chips": form.chips(results.names),
        "pages": page_links(form.page_number, results.pages, lambda number: form.address(page=number)),
        "currencies": list(Currency),
        "categories": [
            (slug, name, results.counts.categories.get(slug, 0) if results.counts else None)
            for slug, name in results.names.categories.items()
        ],
    }
    partial = request.headers.get("HX-Request") == "true"
    category = results.names.categories.get(form.chosen.get("category", ""), "")
    context |= {"headline": f"Search: {form.query}" if form.query else category or "All assets", "partial": partial}
    if not partial:
        context |= {
            "canonical": settings.BASE_URL + form.address(currency=None, page=form.page_number if form.page_number > 1 else None),
            "description": f"Browse {category.lower() or 'fonts, motion templates, presets and AI skills'}: reviewed, with clear licences and prices.",
        }
    response = render(request, "shop/results.html" if partial else "shop/browse.html", context)
    if partial:
        response["HX-Push-Url"] = form.address(page=form.page_number if form.page_number > 1 else None)
    patch_vary_headers(response, ["HX-Request", "Cookie"])
    response.headers["Content-Usage"] = LIST_PREFERENCE
    return remember_currency(request, response)


@require_safe
@rate_limited
def suggestions(request: HttpRequest) -> HttpResponse:
    """Return a few listings for the text entered so far, as an HTML fragment."""
    typed = request.GET.get("q", "")[: bounds.SEARCH_QUERY_CHARS].strip()
    return render(request, "shop/suggestions.html", {"q": typed, "found": suggest(typed) if typed else []})
