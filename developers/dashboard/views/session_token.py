"""The 15-minute token with which a page of ours calls the API for whoever looks at it."""

from django.http import HttpResponseBase, JsonResponse

from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.scopes import Scope, format_scopes

from ...services.credentials import issue_first_party_token

# What a page may read. Spending and selling stay with forms, which a script that slipped into a page cannot send unseen.
PAGE_SCOPES = frozenset({Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD, Scope.ACCOUNT_READ})


@signed_in_page("POST")
def session_token(request: SignedInRequest) -> HttpResponseBase:
    """Hand out a token for the session's user; the CSRF check keeps other sites from asking for one."""
    token, secret = issue_first_party_token(user=request.user, scopes=PAGE_SCOPES, actor=request.user)
    return JsonResponse(
        {"token": secret, "expiresAt": token.expires.strftime("%Y-%m-%dT%H:%M:%SZ"), "scopes": format_scopes(PAGE_SCOPES).split()}
    )
