"""Issues the first-party tokens with which this site's pages call the API."""

from django import forms
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache

from marketplace.accounts.models import User
from marketplace.api.problems import json_problem_response
from marketplace.core import texts
from marketplace.core.errors import MethodNotAllowed, NotAuthenticated, NotFound, Problem
from marketplace.core.scopes import Scope

from ... import selectors
from ...models import FirstPartyToken
from ...services.first_party import LIFETIME, issue_console_token, issue_page_token


class TokenRequestForm(forms.Form):
    """Requests a token of one of the user's apps, or one of the user's own with these scopes."""

    app = forms.UUIDField(required=False)
    scopes = forms.CharField(max_length=200, required=False)

    def clean_scopes(self) -> frozenset[Scope]:
        """Return the scopes; an unknown one is an error."""
        names = self.cleaned_data["scopes"].split()
        unknown = sorted(set(names) - set(Scope))
        if unknown:
            raise forms.ValidationError(f"Unknown scope: {unknown[0]}.")
        return frozenset(Scope(name) for name in names)


@never_cache
def api_token(request: HttpRequest) -> HttpResponseBase:
    """Issue a token to a page of the session. The CSRF check keeps other sites from requesting one, and from reading it."""
    try:
        token, secret = _issue(request)
    except Problem as problem:
        return json_problem_response(problem, request)
    return JsonResponse(
        {
            "token": secret,
            "header": "Authorization" if token.app_id is None else "X-Api-Key",
            "seconds": int(LIFETIME.total_seconds()),
            "expiresAt": token.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "scopes": token.scope.split(),
        }
    )


def _issue(request: HttpRequest) -> tuple[FirstPartyToken, str]:
    if request.method != "POST":
        raise MethodNotAllowed(headers={"Allow": "POST"})
    user, session_key = request.user, request.session.session_key
    if not isinstance(user, User) or session_key is None:
        raise NotAuthenticated("You are signed out. Sign in again, then come back to this page.")
    form = TokenRequestForm(request.POST)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        raise texts.invalid(field, "invalid", str(errors[0]))
    app_id = form.cleaned_data["app"]
    if app_id is None:
        return issue_page_token(session_key=session_key, scopes=form.cleaned_data["scopes"], actor=user)
    app = selectors.apps_of(user).filter(pk=app_id).first()
    if app is None:
        raise NotFound
    return issue_console_token(session_key=session_key, app=app, actor=user)
