"""Secrets that were found where they should not be: revoked at once, and their owners told."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.mails import mail
from marketplace.core.transitions import lock

from ..models import AccessToken, ApiKey, App, RefreshToken
from ..models.credentials import TokenKind
from ..secrets import Prefix, digest_of, well_formed
from .credentials import revoke_api_key, revoke_token

_BEARERS = (Prefix.ACCESS_TOKEN, Prefix.PERSONAL_TOKEN, Prefix.MCP_TOKEN, Prefix.FIRST_PARTY_TOKEN)
_TOKEN_NAMES = {
    TokenKind.PERSONAL.value: "personal token",
    TokenKind.OAUTH.value: "OAuth token",
    TokenKind.MCP.value: "tool token",
    TokenKind.FIRST_PARTY.value: "page token",
}


@dataclass(frozen=True)
class Finding:
    """One secret that someone found.

    Args:
        secret: What was found.
        url: Where; empty when the finder does not say.
    """

    secret: str
    url: str = ""


def report_leaks(*, findings: Iterable[Finding], actor: User | None = None) -> int:
    """Revoke what is live among the findings and mail the owners; the rest is passed over in silence.

    Returns:
        How many credentials were revoked: for us, never for the finder, who could learn from it which are real.
    """
    revoked = 0
    # A secret that was found in several places is one: the first place is told.
    for finding in {finding.secret: finding for finding in reversed(list(findings))}.values():
        with transaction.atomic():
            revoked += _revoke(finding, actor)
    return revoked


def _revoke(finding: Finding, actor: User | None) -> bool:
    digest, where = digest_of(finding.secret), _where(finding)
    if well_formed(finding.secret, Prefix.API_KEY):
        key = ApiKey.objects.select_related("app__user").filter(digest=digest).first()
        return key is not None and key.live and _revoke_key(key, finding, where, actor)
    if well_formed(finding.secret, *_BEARERS):
        token = AccessToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        return token is not None and token.live and _revoke_token(token, finding, where, actor)
    if well_formed(finding.secret, Prefix.REFRESH_TOKEN):
        renewal = RefreshToken.objects.filter(token_checksum=digest, revoked=None).first()
        return renewal is not None and _revoke_renewal(renewal, finding, where, actor)
    return False


def _revoke_key(key: ApiKey, finding: Finding, where: str, actor: User | None) -> bool:
    revoke_api_key(key=key, actor=actor, reason=where)
    _tell({key.app.user}, f"API key {key}", key.app, finding)
    return True


def _revoke_token(token: AccessToken, finding: Finding, where: str, actor: User | None) -> bool:
    revoke_token(token=token, actor=actor, reason=where)
    name = " ".join(filter(None, (_TOKEN_NAMES[token.kind], token.name, token.hint and f"(…{token.hint})")))
    _tell(_people(token.user, token.application), name, token.application, finding)
    return True


def _revoke_renewal(renewal: RefreshToken, finding: Finding, where: str, actor: User | None) -> bool:
    """Revoke a refresh token with everything that was ever renewed along with it: whoever found it may have used it."""
    renewal = lock(RefreshToken.objects.all(), pk=renewal.pk)
    family = Q(pk=renewal.pk) if renewal.token_family is None else Q(token_family=renewal.token_family)
    relatives = RefreshToken.objects.filter(family)
    tokens = list(AccessToken.objects.filter(refresh_token__in=relatives, revoked_at=None))
    relatives.filter(revoked=None).update(revoked=timezone.now())
    for token in tokens:
        revoke_token(token=token, actor=actor, reason=where)
    audit.record("refresh_token.revoke", renewal, actor=actor, reason=where)
    app: App = renewal.application
    _tell(_people(renewal.user, app), "refresh token", app, finding)
    return True


def _people(user: User, app: App | None) -> set[User]:
    """Return whose account it is, and whose app let it slip."""
    return {user} if app is None else {user, app.user}


def _tell(users: set[User], what: str, app: App | None, finding: Finding) -> None:
    for user in users:
        own_app = app if app is not None and app.user_id == user.pk else None
        mail(user, "developers/credential_leaked", what=what, app=app, own_app=own_app, url=finding.url)


def _where(finding: Finding) -> str:
    return f"Reported as leaked, found at {finding.url}" if finding.url else "Reported as leaked"
