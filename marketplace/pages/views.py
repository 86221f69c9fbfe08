"""Pages that span apps: start page, dashboard overview, explanations of problems."""

import json
import re
from http import HTTPStatus
from inspect import getdoc

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from developers.selectors import apps_of, current_application
from library.selectors import live_licences_of
from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.errors import Problem, catalogue
from vendors.errors import VendorProfileMissing
from vendors.models import VendorProfile
from vendors.selectors import profile_of
from wallet.selectors import wallet_of

OVERVIEW_ROWS = 5
_STATUS_FIRST = re.compile(r"\d{3}: ")


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """Say what the service is and where to go."""
    return render(request, "pages/landing.html", {"base_url": settings.BASE_URL})


@signed_in_page("GET")
def dashboard(request: SignedInRequest) -> HttpResponseBase:
    """Show where the user's own things stand."""
    user = request.user
    return render(
        request,
        "pages/dashboard.html",
        {
            "application": current_application(user),
            # Only names and states are shown.
            "apps": apps_of(user).prefetch_related(None)[:OVERVIEW_ROWS],
            "wallet": wallet_of(user),
            "licences": live_licences_of(user).select_related("listing")[:OVERVIEW_ROWS],
            "profile": _profile_or_none(user),
        },
    )


def _profile_or_none(user: User) -> VendorProfile | None:
    try:
        return profile_of(user)
    except VendorProfileMissing:
        return None


@require_safe
def problem_index(request: HttpRequest) -> HttpResponse:
    """List every error code by its status."""
    by_status: dict[int, list[type[Problem]]] = {}
    for problem in sorted(catalogue().values(), key=lambda problem: (problem.status, problem.code)):
        by_status.setdefault(problem.status, []).append(problem)
    groups = [(HTTPStatus(status), problems) for status, problems in by_status.items()]
    return render(request, "pages/problems.html", {"groups": groups})


@require_safe
def problem_page(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one error code: the `type` of a problem document leads here."""
    problem = catalogue().get(code)
    if problem is None:
        raise Http404
    example = {
        "type": f"{settings.BASE_URL}{request.path}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail or problem.title,
        "instance": "/api/v1/…",
        "code": problem.code,
        "requestId": "…",
    }
    context = {
        "problem": problem,
        "status": HTTPStatus(problem.status),
        "note": _note_of(problem),
        "example": json.dumps(example, indent=2, ensure_ascii=False),
    }
    return render(request, "pages/problem_code.html", context)


def _note_of(problem: type[Problem]) -> str:
    """Return the class's own first sentence, without the status that it starts with."""
    first = (getdoc(problem) or "").split("\n\n", 1)[0].replace("\n", " ")
    note = _STATUS_FIRST.sub("", first, count=1)
    return note[:1].upper() + note[1:]


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Keep crawlers to what is public."""
    lines = ["User-agent: *", "Disallow: /dashboard", "Disallow: /account/", "Disallow: /admin/", "Disallow: /api/v1/downloads/", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Lead browsers that ask for the icon at the root to where it is."""
    return redirect(static("favicon.svg"))
