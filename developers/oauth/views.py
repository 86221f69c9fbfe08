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
from .clients import ClientNotApproved, require_reviewed_client
from .cors import allow_any_origin
from .limits import Endpoint, count_outcome, failure_limit, refuse_excess, success_limit
from .parameters import Pairs, form_of, query_of, values_of


@signed_in_page("GET", "POST")
def authorize(request: SignedInRequest) -> HttpResponseBase:
    """Ask the user, even after an earlier consent: a public client cannot prove who it is."""
    try:
        if request.method != "POST":
            require_reviewed_client(request, next(iter(values_of(query_of(request), "client_id")), ""), request.user)
        authorization = server.read_authorization(request)
        decision = request.POST.get("decision")
        own = authorization.app.user_id == request.user.pk
        if decision == "deny":
            return _redirect_to(server.deny(authorization))
        # Only what the page showed can be allowed: the app's grant may have changed since.
        agreed = decision == "allow" and request.POST.get("shown") == format_scopes(authorization.scopes)
        form = _limits_form(request, authorization, own=own, bound=agreed)
        if agreed and (form is None or form.is_valid()):
            return _redirect_to(_allow(authorization, request.user, form))
    except ClientNotApproved as refusal:
        context = {"app": refusal.app, "review": selectors.open_scope_review_of(refusal.app)}
        return _allow_redirects(render(request, "oauth/unreviewed.html", context, status=403))
    except RateLimited as problem:
        later = render(request, "429.html", status=429)
        later["Retry-After"] = problem.headers["Retry-After"]
        return _allow_redirects(later)
    except FatalClientError as error:
        return _allow_redirects(render(request, "oauth/refused.html", {"reason": error.description or error.error}, status=400))
    except OAuth2Error as error:
        return _send_error(request, error)
    consent = _consent_context(authorization, own=own, changed=decision is not None and not agreed)
    return _allow_redirects(render(request, "oauth/consent.html", consent | {"form": form}, status=400 if agreed else 200))


def _limits_form(request: SignedInRequest, authorization: server.AuthorizationRequest, *, own: bool, bound: bool) -> SpendingForm | None:
    """Return the form for the limits of an app that requests to spend; its own developer need not set any."""
    if Scope.WALLET_SPEND not in authorization.scopes:
        return None
    present = list(selectors.owner_spending_limits(request.user, authorization.app))
    return SpendingForm(request.POST if bound else None, limits=present or SUGGESTED, required=not own, request=request)


@transaction.atomic
def _allow(authorization: server.AuthorizationRequest, user: User, form: SpendingForm | None) -> str:
    """Save the consent and its limits, both or neither, and return the redirect URI."""
    address = server.allow(authorization, user)
    if form is not None:
        replace_spending_limits(owner=user, spender=authorization.app, limits=form.limits(), actor=user)
    return address


def _consent_context(authorization: server.AuthorizationRequest, *, own: bool, changed: bool) -> dict[str, object]:
    return {
        "app": authorization.app,
        "own": own,
        "developer": selectors.developer_name(authorization.app),
        "scopes": [scope for scope in Scope if scope in authorization.scopes],
        "shown": format_scopes(authorization.scopes),
        "audience": authorization.audience,
        "redirect_host": host_of(authorization.redirect_uri),
        "is_loopback": is_loopback(authorization.redirect_uri),
        "changed": changed,
    }


def _send_error(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    address = server.error_address(error, error.redirect_uri)
    if request.method == "GET" and request.headers.get("Sec-Fetch-Site") == "same-origin":
        # The browser comes from our own sign-in form, whose content security policy forbids a redirect to another site.
        context = {"address": address, "host": host_of(error.redirect_uri), "reason": error.description or error.error}
        return _allow_redirects(render(request, "oauth/invalid_request.html", context, status=400))
    return _redirect_to(address)


def _redirect_to(address: str) -> HttpResponse:
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
def _endpoint_response(request: HttpRequest, endpoint: Endpoint, operation: Callable[[Pairs], server.OAuthResponse]) -> HttpResponse:
    """Return the response to a client, an error in the form of RFC 6749 section 5.2."""
    failures = failure_limit(request, endpoint)
    try:
        refuse_excess(request, failures)
        pairs = form_of(request)
        successes = success_limit(request, endpoint, next(iter(values_of(pairs, "client_id")), ""))
        refuse_excess(request, successes)
        response = operation(pairs)
        outcome = successes if response.status == 200 else failures
    except RateLimited as problem:
        return _retry_later(429, problem.headers["Retry-After"])
    except (OperationalError, InterfaceError):
        return _retry_later(503, "5")
    except OAuth2Error as error:
        response, outcome = server.error_response(error), failures
    count_outcome(request, outcome)
    return _http_response(response)


def _retry_later(status: int, seconds: str) -> HttpResponse:
    error = server.error_response(TemporarilyUnavailableError(description="Try again after the seconds in Retry-After."))
    return _http_response(error._replace(headers={**error.headers, "Retry-After": seconds}, status=status))


def _http_response(response: server.OAuthResponse) -> HttpResponse:
    headers = {"Content-Type": "application/json", **response.headers, "Cache-Control": "no-store"}
    return HttpResponse(response.body, status=response.status, headers=headers)
