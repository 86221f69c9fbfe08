"""The documentation: an index, a page for each Markdown file, the API reference."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from .. import docs
from ..docs.reading import Document
from ..docs.reference import by_tag, operations
from ..docs.searching import QUERY_CHARS, search_docs


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the pages by reader; with `q`, what was found."""
    query = request.GET.get("q", "").strip()[:QUERY_CHARS]
    return render(
        request,
        "docs/index.html",
        {
            "query": query,
            "results": search_docs(query) if query else [],
            "sections": docs.sections(),
            "canonical": settings.BASE_URL + reverse("docs-index"),
            "headline": "Documentation",
            "description": "How to browse, license, buy and publish creative assets with the API.",
        },
    )


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a page between the navigation and its table of contents."""
    found = _found(slug)
    html, headings = found.html_and_headings
    order = list(docs.documents().values())
    position = order.index(found)
    return render(
        request,
        "docs/page.html",
        {
            "page": found,
            "html": html,
            "headings": headings,
            "sections": docs.sections(),
            "before": order[position - 1] if position else None,
            "after": order[position + 1] if position + 1 < len(order) else None,
            "canonical": settings.BASE_URL + reverse("docs-page", args=[slug]),
            "headline": found.title,
            "description": found.summary,
        },
    )


@require_safe
def source(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a page as Markdown, for programs."""
    found = _found(slug)
    return HttpResponse(f"# {found.title}\n\n{found.summary}\n\n{found.text}", content_type="text/markdown; charset=utf-8")


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """List the operations of the API."""
    context = {
        "sections": docs.sections(),
        "tags": by_tag(),
        "canonical": settings.BASE_URL + reverse("docs"),
        "headline": "API reference",
        "description": "Every operation of the API with its fields, credentials, refusals and an example.",
    }
    return render(request, "docs/reference.html", context)


@require_safe
def operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Show one operation: inputs, response, errors and an example."""
    found = operations().get(operation_id)
    if found is None:
        raise Http404
    context = {
        "sections": docs.sections(),
        "operation": found,
        "neighbours": dict(by_tag())[found.tag],
        "canonical": settings.BASE_URL + reverse("docs-operation", args=[operation_id]),
        "headline": found.summary,
        "description": f"{found.method} {found.path}: {found.summary}.",
    }
    return render(request, "docs/operation.html", context)


def _found(slug: str) -> Document:
    found = docs.documents().get(slug)
    if found is None:
        raise Http404
    return found
