"""Explanations of problems: where the `type` of a problem document leads."""

import json
import re
from inspect import getdoc
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from marketplace.core.errors import Problem, all_problems, status_line

from .. import docs
from ..docs.rendering import code_html

_STATUS_FIRST = re.compile(r"\d{3}: ")


@require_safe
def problem_index(request: HttpRequest) -> HttpResponse:
    """List every error code by its status."""
    problems = sorted(all_problems().values(), key=attrgetter("status", "code"))
    groups = [(status, status_line(status), list(group)) for status, group in groupby(problems, key=attrgetter("status"))]
    return render(request, "pages/problems.html", {"groups": groups, "sections": docs.sections()})


@require_safe
def problem_page(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one error code: the `type` of a problem document leads here."""
    problem = all_problems().get(code)
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
        "sections": docs.sections(),
        "problem": problem,
        "status": status_line(problem.status),
        "note": _note_of(problem),
        "example": code_html(json.dumps(example, indent=2, ensure_ascii=False), "json"),
    }
    return render(request, "pages/problem_code.html", context)


def _note_of(problem: type[Problem]) -> str:
    """Return the first paragraph of the docstring of a problem, without the status that it begins with."""
    first = (getdoc(problem) or "").split("\n\n", 1)[0].replace("\n", " ")
    note = _STATUS_FIRST.sub("", first, count=1)
    return note[:1].upper() + note[1:]
