"""Decorators and helpers of pages that require sign-in."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render, resolve_url
from django.urls import Resolver404, resolve
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from marketplace.core.errors import Problem, RateLimited
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call
from marketplace.http.refusals import METHODS_ATTRIBUTE, allow_methods, declare_methods

from .models import User

P = ParamSpec("P")
SIGNED_OUT = "Nothing was done, because you were signed out. Sign in, then send the form again."


class SignedInRequest(HttpRequest):
    """A request whose user is signed in."""

    user: User


Page = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]


def signed_in_page(*methods: str) -> Callable[[Page[P]], Callable[..., HttpResponseBase]]:
    """Allow only signed-in users and these methods (HEAD with GET), and forbid caching of the response."""

    def decorate(page: Page[P]) -> Callable[..., HttpResponseBase]:
        allowed = allow_methods(*methods)(cast("Callable[..., HttpResponseBase]", page))

        def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            return allowed(request, *args, **kwargs) if request.user.is_authenticated else _sign_in_first(request)

        return declare_methods(*methods)(wraps(page)(never_cache(guarded)))

    return decorate


def confirmed_page(page: Page[P]) -> Page[P]:
    """Require the password or a code of the second factor to be entered again, unless that was done within the last five minutes."""
    return cast("Page[P]", reauthentication_required(page))


def live_check(page: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Serve a page that a form asks for while it is being filled in, to show what is wrong before it is sent.

    It answers 204 instead of an error to users who were signed out or exceed the rate limit: the form is checked again when it is sent.
    """

    def guarded(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return HttpResponse(status=204)
        try:
            # When the counter store is down the check goes on: it saves nothing and reveals nothing secret.
            with suppress(CounterStoreDown):
                count_call(request, [RateLimit("live-checks", str(request.user.pk), settings.RATE_LIMITS["live_checks"])])
        except RateLimited as refusal:
            return HttpResponse(status=204, headers=refusal.headers)
        response = page(request, *args, **kwargs)
        # The script would follow a redirect and show that page inside the form.
        return HttpResponse(status=204) if isinstance(response, HttpResponseRedirect) else response

    return wraps(page)(never_cache(guarded))


def _sign_in_first(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, which leads back.

    After a form, it leads to the page that the form was on or, if that is unknown or accepts no GET, to the address that it was sent to.
    """
    if request.method != "POST":
        return redirect_to_login(request.get_full_path())
    # Scripts show messages of their own.
    if request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate":
        messages.warning(request, SIGNED_OUT)
    targets = (_page_before(request), request.get_full_path())
    return redirect_to_login(next(filter(_is_page, targets), resolve_url(settings.LOGIN_REDIRECT_URL)))


def _page_before(request: HttpRequest) -> str:
    """Return the path of the page that a form was on; empty if it is unknown, or on another site."""
    came_from = request.headers.get("Referer", "")
    if not _is_ours(request, came_from):
        return ""
    path = urlsplit(came_from)._replace(scheme="", netloc="", fragment="").geturl()
    # A path that begins with two slashes would name another host.
    return path if _is_ours(request, path) else ""


def _is_ours(request: HttpRequest, address: str) -> bool:
    return bool(url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure()))


def _is_page(path: str) -> bool:
    """Tell whether the path accepts GET; a form with errors may be shown where only POST is accepted."""
    try:
        view = resolve(urlsplit(path).path).func
    except Resolver404:
        return False
    return "GET" in getattr(view, METHODS_ATTRIBUTE, ("GET",))


@contextmanager
def problems_as_form_errors(form: BaseForm, fields: Mapping[type[Problem], str] | None = None) -> Iterator[None]:
    """Turn a service's refusal into errors of the form, which keeps what was typed.

    `fields` has the field that a refusal is about, for refusals that do not name it.
    """
    try:
        yield
    except Problem as problem:
        named = [(error["pointer"].removeprefix("#/"), error["detail"]) for error in problem.members.get("errors", ())]
        for name, detail in named or [((fields or {}).get(type(problem), ""), problem.message)]:
            form.add_error(name if name in form.fields else None, detail)


@contextmanager
def problems_as_messages(request: HttpRequest, success: str) -> Iterator[None]:
    """Show a service's refusal, or else its success, as a message on the next page."""
    try:
        yield
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, success)


def posted(request: HttpRequest) -> QueryDict | None:
    """Return what a form sent; None where its page is only opened."""
    return request.POST if request.method == "POST" else None


def render_form(request: HttpRequest, template: str, form: BaseForm, **context: Any) -> HttpResponse:
    """Return the page with its form: 400 when what was sent is not accepted."""
    return render(request, template, {"form": form, **context}, status=400 if form.is_bound else 200)
