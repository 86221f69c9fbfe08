"""First-party tokens, with which our own pages call the API: bound to a session, short-lived, never shown to a person.

Issuing one is not in the audit log, as a page that stays open requests one every quarter of an hour; revoking one is.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound
from marketplace.core.scopes import Scope, format_scopes
from marketplace.core.transitions import lock

from .. import bounds
from ..errors import AppNotApproved, ScopeNotAvailable
from ..models import App, FirstPartyToken
from ..secrets import Prefix, digest_of, new_secret

LIFETIME = timedelta(minutes=15)
# Not those of money: purchases and top-ups are forms, so that an injected script cannot make one unseen.
PAGE_SCOPES = frozenset({Scope.CATALOG_READ, Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD, Scope.ACCOUNT_READ, Scope.VENDOR_MANAGE})


def issue_page_token(*, session_key: str, scopes: frozenset[Scope], actor: User) -> tuple[FirstPartyToken, str]:
    """Create a token for a page that acts for its user, and return it with its secret.

    Raises:
        ScopeNotAvailable: the page requests no scope, or one that no page may have.
    """
    if not scopes or not scopes <= PAGE_SCOPES:
        raise ScopeNotAvailable("Request at least one scope. Pages cannot spend.", available=format_scopes(PAGE_SCOPES).split())
    return _issue(session_key, scopes, app=None, user=actor)


def issue_console_token(*, session_key: str, app: App, actor: User) -> tuple[FirstPartyToken, str]:
    """Create a token that stands for a key of the user's app: it has the app's scopes, and spends within limits only.

    It is returned with its secret.

    Raises:
        AppNotApproved: the app is pending, rejected or suspended, or has no granted scopes.
        NotFound: it is someone else's.
    """
    if app.user_id != actor.pk:
        raise NotFound
    if not app.is_usable() or not app.scopes:
        raise AppNotApproved(
            "The console can call the API as an approved app with granted scopes only. The page of the app says what it waits for."
        )
    return _issue(session_key, app.scopes, app=app, user=actor)


@transaction.atomic
def revoke_first_party_token(*, token: FirstPartyToken, actor: User | None, reason: str) -> bool:
    """Delete a leaked first-party token; return False if it no longer exists."""
    removed, _ = FirstPartyToken.objects.filter(pk=token.pk).delete()
    if removed:
        audit.record("first_party_token.revoke", token, actor=actor, reason=reason)
    return bool(removed)


@transaction.atomic
def _issue(session_key: str, scopes: frozenset[Scope], *, app: App | None, user: User) -> tuple[FirstPartyToken, str]:
    # The lock keeps simultaneous pages within the maximum. `session_hash` comes from the given `user`, against whom the session was checked,
    # not from the locked row: if the password was changed meanwhile, that session has ended, and its token must not be valid either.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    own = FirstPartyToken.objects.filter(user=user)
    kept = own.filter(expires_at__gt=timezone.now()).order_by("-id").values_list("pk", flat=True)[: bounds.MAX_FIRST_PARTY_TOKENS - 1]
    own.exclude(pk__in=list(kept)).delete()
    secret = new_secret(Prefix.FIRST_PARTY_TOKEN)
    token = FirstPartyToken.objects.create(
        user=user,
        app=app,
        session_id=session_key,
        session_hash=user.get_session_auth_hash(),
        digest=digest_of(secret),
        scope=format_scopes(scopes),
        expires_at=timezone.now() + LIFETIME,
    )
    return token, secret
