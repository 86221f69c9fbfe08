"""Handles reports of leaked secrets: they are revoked at once, and their owners get a mail.

Anyone may report, so nothing of a report's own words goes into a mail: where a secret was found is for the audit log.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.ui.mail import mail

from .. import bounds
from ..models import AccessToken, ApiKey, App, FirstPartyToken, RefreshToken
from ..models.credentials import TokenKind
from ..secrets import Prefix, digest_of, well_formed
from .credentials import revoke_api_key, revoke_token
from .first_party import revoke_first_party_token
from .oauth import revoke_family

logger = logging.getLogger(__name__)

_BEARERS = (Prefix.ACCESS_TOKEN, Prefix.PERSONAL_TOKEN, Prefix.MCP_TOKEN)
_TOKEN_NAMES = {
    TokenKind.PERSONAL.value: "personal token",
    TokenKind.OAUTH.value: "OAuth token",
    TokenKind.MCP.value: "tool token",
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

    A finding that fails leaves the others alone. The first failure is raised in the end: the finder must come again, and
    what was revoked already is passed over then.

    Returns:
        How many credentials were revoked: for us, never for the finder, who could learn from it which are real.
    """
    revoked, failures = 0, []
    # A secret that was found in several places is one: the first place is told.
    for finding in {finding.secret: finding for finding in reversed(list(findings))}.values():
        try:
            with transaction.atomic():
                revoked += _revoke(finding, actor)
        except Exception as error:  # noqa: BLE001 - it is raised below
            # Its words may hold the row, and the trace the secret.
            logger.error("A reported credential could not be revoked: %s", type(error).__name__)  # noqa: TRY400
            failures.append(error)
    if failures:
        raise failures[0]
    return revoked


def _revoke(finding: Finding, actor: User | None) -> bool:
    digest, where = digest_of(finding.secret), _where(finding)
    if well_formed(finding.secret, Prefix.API_KEY):
        key = ApiKey.objects.select_related("app__user").filter(digest=digest).first()
        return key is not None and key.live and _revoke_key(key, where, actor)
    if well_formed(finding.secret, *_BEARERS):
        token = AccessToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        return token is not None and token.live and _revoke_token(token, where, actor)
    if well_formed(finding.secret, Prefix.FIRST_PARTY_TOKEN):
        page = FirstPartyToken.objects.select_related("user", "app__user").filter(digest=digest, expires_at__gt=timezone.now()).first()
        return page is not None and _revoke_page(page, where, actor)
    if well_formed(finding.secret, Prefix.REFRESH_TOKEN):
        renewal = RefreshToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        return renewal is not None and _revoke_renewal(renewal, where, actor)
    return False


def _revoke_key(key: ApiKey, where: str, actor: User | None) -> bool:
    if not revoke_api_key(key=key, actor=actor, reason=where):
        return False
    _notify({key.app.developer}, f"API key {key}", key.app)
    return True


def _revoke_token(token: AccessToken, where: str, actor: User | None) -> bool:
    if not revoke_token(token=token, actor=actor, reason=where):
        return False
    name = " ".join(filter(None, (_TOKEN_NAMES[token.kind], token.name, token.hint and f"(…{token.hint})")))
    _notify(_people(token.user, token.application), name, token.application)
    return True


def _revoke_page(token: FirstPartyToken, where: str, actor: User | None) -> bool:
    if not revoke_first_party_token(token=token, actor=actor, reason=where):
        return False
    _notify({token.user}, "page token", token.app)
    return True


def _revoke_renewal(renewal: RefreshToken, where: str, actor: User | None) -> bool:
    """Revoke everything that came of one authorization, for one that was renewed since too: by whom, nobody knows."""
    if not revoke_family(family=renewal.token_family, reason=where, actor=actor):
        return False
    _notify(_people(renewal.user, renewal.application), "refresh token", renewal.application)
    return True


def _people(user: User, app: App | None) -> set[User]:
    """Return the owner of the account, and the developer of the app that leaked the credential."""
    return {user} if app is None or app.user is None else {user, app.user}


def _notify(users: set[User], what: str, app: App | None) -> None:
    """Mail the owners, each a few times a day: whoever has many secrets of someone must not fill that one's mailbox with them."""
    since = timezone.now() - timedelta(days=1)
    for user in users:
        told = audit.history_of(user).filter(action="user.tell_leak", at__gt=since).count()
        if told >= bounds.LEAK_MAILS_A_DAY:
            continue
        audit.record("user.tell_leak", user, actor=None, what=what)
        own_app = app if app is not None and app.user_id == user.pk else None
        last = told + 1 == bounds.LEAK_MAILS_A_DAY
        mail(user, "developers/credential_leaked", what=what, app=app, own_app=own_app, last=last)


def _where(finding: Finding) -> str:
    return f"Reported as leaked, found at {finding.url}" if finding.url else "Reported as leaked"
