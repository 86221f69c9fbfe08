"""The page of the admin's search."""

from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from marketplace.http.refusals import allow_methods

from .search import SearchQuery, search_admins
from .service import ServiceAdmin


@allow_methods("GET")
def search(request: HttpRequest) -> HttpResponse:
    """Show the search results that the user may view."""
    typed = request.GET.get("q", "")
    query = SearchQuery.of(typed)
    if query.text != typed.strip():
        # Keep secrets out of the URL.
        return redirect(f"{request.path}?{urlencode({'q': query.text})}")
    looked_up = [each for each in admin.site._registry.values() if isinstance(each, ServiceAdmin) and each.has_view_permission(request)]
    groups = search_admins(looked_up, query) if query.text else []
    context = {**admin.site.each_context(request), "title": "Search", "searched": query.text, "groups": groups}
    return TemplateResponse(request, "admin/search.html", context)
