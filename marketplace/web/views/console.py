"""The developer console: choose an operation, fill in what it takes, see the call as code, and, with a script, make it."""

import json
import uuid
from typing import Any

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import mark_safe

from catalog import bounds
from catalog.selectors.cards import newest_slugs
from developers.models.apps import AppStatus
from developers.selectors import apps_of
from marketplace.accounts.pages import SignedInRequest, posted, signed_in_page

from ..console.form import CODE, CONFIRMATIONS, CallForm, scope_of
from ..docs.reference import Operation, by_tag, operations
from ..docs.rendering import tabs_html
from ..docs.snippets import snippets


@signed_in_page("GET")
def console(request: SignedInRequest) -> HttpResponseBase:
    """List the operations that match the search."""
    query = request.GET.get("q", "").strip()[: bounds.SEARCH_QUERY_CHARS]
    found = [(tag, [each for each in group if _matches(each, query)]) for tag, group in by_tag()]
    context = {"groups": [(tag, group) for tag, group in found if group], "query": query, "app": _chosen(request)}
    return render(request, "console/list.html", context)


@signed_in_page("GET", "POST")
def operation(request: SignedInRequest, operation_id: str) -> HttpResponseBase:
    """Show the form of an operation and, once it is filled in, the call as code."""
    found = operations().get(operation_id)
    if found is None:
        raise Http404
    form = CallForm(
        posted(request),
        operation=found,
        apps=list(apps_of(request.user).prefetch_related(None).filter(status=AppStatus.APPROVED).exclude(granted_scopes="")),
        samples=_samples(),
        chosen=_chosen(request),
    )
    context: dict[str, Any] = {"operation": found, "form": form, "scope": scope_of(found), "app": _chosen(request)}
    if form.is_bound and form.is_valid():
        context |= _call_context(form, found)
    # A script requests only the part that changes.
    only_call = request.headers.get("X-Part") == "call"
    status = 400 if form.is_bound and not form.is_valid() else 200
    return render(request, "console/call.html" if only_call else "console/operation.html", context, status=status)


def _call_context(form: CallForm, found: Operation) -> dict[str, Any]:
    call = form.call()
    made = {
        "method": call.method,
        "path": form.path(),
        "headers": dict(call.headers) if call.body is None else {**call.headers, "Content-Type": "application/json"},
        # As text: a browser that parsed it would change large numbers.
        "body": None if call.body is None else json.dumps(call.body, ensure_ascii=False),
        "upload": call.upload,
        "tokenRequest": form.token_request(),
        "ask": CONFIRMATIONS.get(found.id, ""),
        "canRun": form.cleaned_data["caller"] != CODE,
    }
    code = mark_safe(tabs_html("call", snippets(call)))  # noqa: S308 - escaped by the highlighter
    return {"code": code, "made": made, "credential": call.credential.value}


def _chosen(request: SignedInRequest) -> str:
    """Return the id of the app in the query string; empty for none. The form offers only the user's own."""
    try:
        return str(uuid.UUID(request.GET.get("app", "")))
    except ValueError:
        return ""


def _matches(each: Operation, query: str) -> bool:
    text = f"{each.id} {each.method} {each.path} {each.summary} {scope_of(each)}".lower()
    return all(word in text for word in query.lower().split())


def _samples() -> dict[str, str]:
    """Return values that exist here: an asset on sale."""
    newest = newest_slugs(1)
    return {"asset_id": newest[0][0], "assetId": newest[0][0]} if newest else {}
