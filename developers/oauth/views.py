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
from ..redirects import host_of, leads_here
from ..services.spending import replace_spending_limits
from . import server
from .clients import ClientNotReviewed, resolve_client
from .cors import open_to_browsers
from .limits import Endpoint, count_outcome, refuse_excess
from .parameters import Pairs, form_of, query_of, values_of


@signed_in_page("GET", "POST")
def authorize(request: SignedInRequest) -> HttpResponseBase:
    """Ask the user, always: an address of a public app can be anyone's, and an old consent proves nothing about who asks now."""
    try:
        if request.method != "POST":
            resolve_client(request, next(iter(values_of(query_of(request), "client_id")), ""), request.user)
        asked = server.read_authorization(request)
        decision = request.POST.get("decision") if request.method == "POST" else None
        if decision == "deny":
            return _send(server.deny(asked))
        # What was on the page must be what is allowed: the app's grant may have changed since.
        agreed = decision == "allow" and request.POST.get("shown") == format_scopes(asked.scopes)
        limits = _limits_form(request, asked, bound=agreed)
        if agreed and (limits is None or limits.is_valid()):
            return _send(_allow(asked, request.user, limits))
    except ClientNotReviewed as unreviewed:
        return _framed_nowhere(render(request, "oauth/unreviewed.html", {"app": unreviewed.app}, status=403))
    except RateLimited as problem:
        later = render(request, "429.html", status=429)
        later["Retry-After"] = problem.headers["Retry-After"]
        return _framed_nowhere(later)
    except FatalClientError as error:
        return _framed_nowhere(render(request, "oauth/refused.html", {"reason": error.description or error.error}, status=400))
    except OAuth2Error as error:
        return _send_error(request, error)
    page = _page(asked, changed=decision is not None and not agreed)
    return _framed_nowhere(render(request, "oauth/consent.html", page | {"form": limits}, status=400 if agreed else 200))


def _limits_form(request: SignedInRequest, asked: server.AuthorizationRequest, *, bound: bool) -> SpendingForm | None:
    """Return the form that asks how much an app may spend that asks to spend; whoever made the app may leave it open."""
    if Scope.WALLET_SPEND not in asked.scopes:
        return None
    present = list(selectors.limits_of(request.user, asked.app))
    return SpendingForm(request.POST if bound else None, limits=present or SUGGESTED, required=asked.app.user_id != request.user.pk)


@transaction.atomic
def _allow(asked: server.AuthorizationRequest, user: User, limits: SpendingForm | None) -> str:
    """Keep the consent with its limits, both or neither, and return where the browser goes."""
    address = server.allow(asked, user)
    if limits is not None:
        replace_spending_limits(owner=user, spender=asked.app, limits=limits.limits(), actor=user)
    return address


def _page(asked: server.AuthorizationRequest, *, changed: bool) -> dict[str, object]:
    return {
        "app": asked.app,
        "developer": selectors.developer_name(asked.app),
        "scopes": [scope for scope in Scope if scope in asked.scopes],
        "shown": format_scopes(asked.scopes),
        "spends": Scope.WALLET_SPEND in asked.scopes,
        "audience": asked.audience,
        "redirect_host": host_of(asked.redirect_uri),
        "here": leads_here(asked.redirect_uri),
        "changed": changed,
    }


def _send_error(request: HttpRequest, error: OAuth2Error) -> HttpResponse:
    address = server.error_address(error, error.redirect_uri)
    if request.method == "GET" and request.headers.get("Sec-Fetch-Site") == "same-origin":
        # The browser comes from our own sign-in form, whose policy would stop it from being sent on to another site.
        context = {"address": address, "host": host_of(error.redirect_uri), "reason": error.description or error.error}
        return _framed_nowhere(render(request, "oauth/sent_back.html", context, status=400))
    return _send(address)


def _send(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    # The browser must follow with GET, whatever brought it here.
    response.status_code = 303
    return _framed_nowhere(response)


def _framed_nowhere(response: HttpResponse) -> HttpResponse:
    # Where an app sends its users on, we cannot know; a page in another's frame could be clicked unseen.
    response[pages.POLICY_HEADER] = pages.REDIRECTING_FORM_POLICY
    return response


@csrf_exempt
@open_to_browsers("POST")
@sensitive_post_parameters()
@sensitive_variables()
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token for a new pair."""
    return _answered(request, Endpoint.TOKEN, server.token_response)


@csrf_exempt
@open_to_browsers("POST")
@sensitive_post_parameters()
@sensitive_variables()
def revoke(request: HttpRequest) -> HttpResponse:
    """End what came of one authorization (RFC 7009)."""
    return _answered(request, Endpoint.REVOCATION, server.revocation_response)


@sensitive_variables()
def _answered(request: HttpRequest, endpoint: Endpoint, operation: Callable[[Pairs], server.Answer]) -> HttpResponse:
    """Answer a client, whatever it sent, as RFC 6749 section 5.2 has it."""
    try:
        refuse_excess(request, endpoint)
        pairs = form_of(request)
        client_id = next(iter(values_of(pairs, "client_id")), "")
        refuse_excess(request, endpoint, client_id)
        answer = operation(pairs)
    except RateLimited as problem:
        return _later(429, problem.headers["Retry-After"])
    except (OperationalError, InterfaceError):
        return _later(503, "5")
    except OAuth2Error as error:
        answer, client_id = server.error_answer(error), None
    count_outcome(request, endpoint, client_id if answer[2] == 200 else None)
    return _plain(*answer)


def _later(status: int, seconds: str) -> HttpResponse:
    headers, body, _ = server.error_answer(TemporarilyUnavailableError(description="Try again after the seconds in Retry-After."))
    return _plain({**headers, "Retry-After": seconds}, body, status)


def _plain(headers: dict[str, str], body: str, status: int) -> HttpResponse:
    return HttpResponse(body, status=status, headers={"Content-Type": "application/json", **headers, "Cache-Control": "no-store"})
