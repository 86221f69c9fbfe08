"""The endpoints: consent, token, revocation."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import TemporarilyUnavailableError

from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.errors import RateLimited
from marketplace.core.scopes import Scope, format_scopes
from marketplace.http import pages

from .. import selectors
from ..dashboard.limit_forms import SUGGESTED, SpendingForm
from ..redirects import host_of, is_loopback
from ..services.spending import replace_spending_limits
from . import server
from .clients import ClientNotApproved, resolve_client
from .cors import allow_any_origin
from .limits import count_outcome, refuse_excess
from .parameters import Pairs, form_of, query_of, values_of


@signed_in_page("GET", "POST")
def authorize(request: SignedInRequest) -> HttpResponseBase:
    """Ask the user, even after an earlier consent: a public client cannot prove who it is."""
    try:
        if request.method != "POST":
            resolve_client(request, next(iter(values_of(query_of(request), "client_id")), ""), request.user)
        asked = server.read_authorization(request)
        decision, own = request.POST.get("decision"), asked.app.user_id == request.user.pk
        if decision == "deny":
            return _send(server.deny(asked))
        # Only what the page showed can be allowed: the app's grant may have changed since.
        agreed = decision == "allow" and request.POST.get("shown") == format_scopes(asked.scopes)
        limits = _limits_form(request, asked, own=own, bound=agreed)
        if agreed and (limits is None or limits.is_valid()):
            return _send(_allow(asked, request.user, limits))
    except ClientNotApproved as refusal:
        context = {"app": refusal.app, "review": selectors.open_request_of(refusal.app)}
        return _allow_redirects(render(request, "oauth/unreviewed.html", context, status=403))
    except RateLimited as problem:
        later = render(request, "429.html", status=429)
        later["Retry-After"] = problem.headers["Retry-After"]
        return _allow_redirects(later)
    except FatalClientError as error:
        return _allow_redirects(render(request, "oauth/refused.html", {"reason": error.description or error.error}, status=400))
    except OAuth2Error as error:
        return _send_error(request, error)
    page = _page(asked, own=own, changed=decision is not None and not agreed)
    return _allow_redirects(render(request, "oauth/consent.html", page | {"form": limits}, status=400 if agreed else 200))


def _limits_form(request: SignedInRequest, asked: server.AuthorizationRequest, *, own: bool, bound: bool) -> SpendingForm | None:
    """Return the form for the limits of an app that requests to spend; its own developer need not set any."""
    if Scope.WALLET_SPEND not in asked.scopes:
        return None
    present = list(selectors.owner_spending_limits(request.user, asked.app))
    return SpendingForm(request.POST if bound else None, limits=present or SUGGESTED, required=not own, request=request)


@transaction.atomic
def _allow(asked: server.AuthorizationRequest, user: User, limits: SpendingForm | None) -> str:
    """Save the consent and its limits, both or neither, and return the redirect URI."""
    address = server.allow(asked, user)
    if limits is not None:
        replace_spending_limits(owner=user, spender=asked.app, limits=limits.limits(), actor=user)
    return address


def _page(asked: server.AuthorizationRequest, *, own: bool, changed: bool) -> dict[str, object]:
    return {
        "app": asked.app,
        "own": own,
        "developer": selectors.developer_name(asked.app),
        "scopes": [scope for scope in Scope if scope in asked.scopes],
        "shown": format_scopes(asked.scopes),
        "audience": asked.audience,
        "redirect_host": host_of(asked.redirect_uri),
        "is_loopback": is_loopback(asked.redirect_uri),
        "changed": changed,
    }


def _send_error(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    address = server.error_address(error, error.redirect_uri)
    if request.method == "GET" and request.headers.get("Sec-Fetch-Site") == "same-origin":
        # The browser comes from our own sign-in form, whose content security policy forbids a redirect to another site.
        context = {"address": address, "host": host_of(error.redirect_uri), "reason": error.description or error.error}
        return _allow_redirects(render(request, "oauth/invalid_request.html", context, status=400))
    return _send(address)


def _send(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    # The browser must follow with GET, even after a POST.
    response.status_code = 303
    return _allow_redirects(response)


def _allow_redirects(response: HttpResponse) -> HttpResponse:
    # The app may redirect its users further, so the policy allows all targets; framing would allow clickjacking.
    response[pages.POLICY_HEADER] = pages.REDIRECTING_FORM_POLICY
    return response


@csrf_exempt
@allow_any_origin("POST")
@sensitive_post_parameters()
@sensitive_variables()
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token for a new pair."""
    return _endpoint_response(request, "token", server.token_response)


@csrf_exempt
@allow_any_origin("POST")
@sensitive_post_parameters()
@sensitive_variables()
def revoke(request: HttpRequest) -> HttpResponse:
    """Revoke the tokens of one authorization (RFC 7009)."""
    return _endpoint_response(request, "revocation", server.revocation_response)


@sensitive_variables()
def _endpoint_response(request: HttpRequest, endpoint: str, operation: Callable[[Pairs], server.OAuthResponse]) -> HttpResponse:
    """Return the response to a client, an error in the form of RFC 6749 section 5.2."""
    try:
        refuse_excess(request, endpoint)
        pairs = form_of(request)
        client_id = next(iter(values_of(pairs, "client_id")), "")
        refuse_excess(request, endpoint, client_id)
        result = operation(pairs)
    except RateLimited as problem:
        return _retry_later(429, problem.headers["Retry-After"])
    except (OperationalError, InterfaceError):
        return _retry_later(503, "5")
    except OAuth2Error as error:
        result, client_id = server.error_response(error), None
    count_outcome(request, endpoint, client_id if result[2] == 200 else None)
    return _http_response(*result)


def _retry_later(status: int, seconds: str) -> HttpResponse:
    headers, body, _ = server.error_response(TemporarilyUnavailableError(description="Try again after the seconds in Retry-After."))
    return _http_response({**headers, "Retry-After": seconds}, body, status)


def _http_response(headers: dict[str, str], body: str, status: int) -> HttpResponse:
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers, "Cache-Control": "no-store"})
