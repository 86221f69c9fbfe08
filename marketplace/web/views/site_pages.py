"""The operator's pages, to which the foot of every page links."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from marketplace.operations.models import SitePage
from marketplace.operations.site_pages import TO_WRITE, text_of

from ..shop.description import description_html


@require_safe
def site_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the operator's text, or what is missing."""
    page, text = SitePage.Slug(slug), text_of(slug)
    context = {
        "title": page.label,
        "text": description_html(text, below=1) if text else "",
        "to_write": TO_WRITE[page],
        "canonical": settings.BASE_URL + request.path,
        "description": page.label,
    }
    return render(request, "pages/site_page.html", context)
