"""The pages of licence terms, and of whether an asset may be used for something."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.selectors.taxonomy import terms_version
from catalog.uses import Use, UseTerms
from library.rights import rights_to
from marketplace.accounts.models import User

from ..shop.currency import currency_of
from ..shop.rate_limit import rate_limited
from ..shop.rights import RightsForm


@require_safe
@rate_limited
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Show whether a listing may be used for what the form asks, with the clauses that decide."""
    form = RightsForm({"use": Use.PERSONAL.value, **request.GET.dict()})
    asked = form.cleaned_data if form.is_valid() else {}
    owner = request.user if isinstance(request.user, User) else None
    rights = rights_to(slug, Use(asked.get("use", Use.PERSONAL)), asked.get("quantity") or 1, owner=owner)
    context = {"form": form, "rights": rights, "listing": rights.listing, "currency": currency_of(request)}
    return render(request, "shop/rights.html", context)


@require_safe
def terms(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """Show a version of a licence's terms with its SHA-256."""
    found = terms_version(slug, version)
    uses = [UseTerms.of(found.permissions, use) for use in Use]
    return render(request, "pages/license_terms.html", {"terms": found, "uses": uses})


@require_safe
def terms_text(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """Return the text of a version of a licence's terms, byte by byte what its SHA-256 is of."""
    return HttpResponse(terms_version(slug, version).text, content_type="text/plain; charset=utf-8")
