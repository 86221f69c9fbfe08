"""The start page, and what robots and browsers ask for at the root."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Say what the service is and where to go."""
    return render(request, "pages/landing.html", {"base_url": settings.BASE_URL})


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Keep crawlers to what is public."""
    lines = ["User-agent: *", "Disallow: /dashboard", "Disallow: /account/", "Disallow: /admin/", "Disallow: /api/v1/downloads/", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Lead browsers that ask for the icon at the root to where it is."""
    return redirect(static("favicon.svg"))
