"""The endpoints: consent, token, revocation."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST
from oauthlib.oauth2 import FatalClientError, OAuth2Error

from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.api.problems import http_response
from marketplace.core.errors import RateLimited
from marketplace.core.scopes import Scope, format_scopes

from .. import selectors
from ..redirects import host_of, origin_of
from ..throttling import count_by_address
from . import server


@signed_in_page("GET", "POST")
def authorize(request: SignedInRequest) -> HttpResponseBase:
    """Ask the user, always: an address of a public app can be anyone's, and an old consent proves nothing about who asks now."""
    try:
        asked = server.read_authorization(request)
        decision = request.POST.get("decision") if request.method == "POST" else None
        if decision == "deny":
            return _send(server.deny(asked))
        # What was on the page must be what is allowed: the app's grant may have changed since.
        if decision == "allow" and request.POST.get("shown") == format_scopes(asked.scopes):
            return _send(server.allow(request, asked, request.user))
    except FatalClientError as error:
        return _framed_nowhere(render(request, "oauth/refused.html", {"reason": error.description or error.error}, status=400))
    except OAuth2Error as error:
        return _send(server.error_address(error, error.redirect_uri))
    return _framed_nowhere(render(request, "oauth/consent.html", _page(asked, changed=decision is not None)))


def _page(asked: server.Asked, *, changed: bool) -> dict[str, object]:
    return {
        "app": asked.app,
        "developer": selectors.developer_name(asked.app),
        "scopes": [scope for scope in Scope if scope in asked.scopes],
        "shown": format_scopes(asked.scopes),
        "spends": Scope.WALLET_SPEND in asked.scopes,
        "audience": asked.audience,
        "redirect_host": host_of(asked.redirect_uri),
        "redirect_origin": origin_of(asked.redirect_uri),
        "changed": changed,
    }


def _send(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    # The browser must follow with GET, whatever brought it here.
    response.status_code = 303
    return _framed_nowhere(response)


def _framed_nowhere(response: HttpResponse) -> HttpResponse:
    # Beside X-Frame-Options: a page in another's frame could be clicked unseen.
    response["Content-Security-Policy"] = "frame-ancestors 'none'"
    return response


@csrf_exempt
@require_POST
@sensitive_post_parameters()
@sensitive_variables()
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token for a new pair."""
    try:
        count_by_address(request, "oauth")
    except RateLimited as problem:
        return http_response(problem, request)
    return _plain(*server.token_response(request))


@csrf_exempt
@require_POST
@sensitive_post_parameters()
@sensitive_variables()
def revoke(request: HttpRequest) -> HttpResponse:
    """End what came of one authorization (RFC 7009)."""
    try:
        count_by_address(request, "oauth")
    except RateLimited as problem:
        return http_response(problem, request)
    return _plain(*server.revocation_response(request))


def _plain(headers: dict[str, str], body: str, status: int) -> HttpResponse:
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers, "Cache-Control": "no-store"})
