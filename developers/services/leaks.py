"""Handles reports of leaked secrets: they are revoked at once, and their owners get a mail.

Anyone may report, so mails contain no text of a report: where a secret was found is recorded in the audit log only.
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
    """A reported secret."""

    secret: str
    # Where it was found; empty if the report does not say.
    url: str = ""


def report_leaks(*, findings: Iterable[Finding], actor: User | None = None) -> int:
    """Revoke the live credentials among the findings and mail their owners; ignore the rest.

    A failure does not stop the others. The first one is raised at the end, so that the report is sent again; credentials that
    were already revoked are ignored then.

    Returns:
        How many credentials were revoked; never to be shown to the reporter, who could learn which are real.
    """
    revoked, failures = 0, []
    # Of a secret that was found in several places, the first counts.
    for finding in {finding.secret: finding for finding in reversed(list(findings))}.values():
        try:
            with transaction.atomic():
                revoked += _revoke(finding, actor)
        except Exception as error:  # noqa: BLE001 - it is raised below
            # The message may contain the row, and the traceback the secret.
            logger.error("A reported credential could not be revoked: %s", type(error).__name__)  # noqa: TRY400
            failures.append(error)
    if failures:
        raise failures[0]
    return revoked


def _revoke(finding: Finding, actor: User | None) -> bool:
    digest, where = digest_of(finding.secret), _reason(finding)
    if well_formed(finding.secret, Prefix.API_KEY):
        key = ApiKey.objects.select_related("app__user").filter(digest=digest).first()
        return key is not None and key.live and _revoke_key(key, where, actor)
    if well_formed(finding.secret, *_BEARERS):
        token = AccessToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        return token is not None and token.live and _revoke_token(token, where, actor)
    if well_formed(finding.secret, Prefix.FIRST_PARTY_TOKEN):
        page = FirstPartyToken.objects.select_related("user", "app__user").filter(digest=digest, expires_at__gt=timezone.now()).first()
        return page is not None and _revoke_first_party(page, where, actor)
    if well_formed(finding.secret, Prefix.REFRESH_TOKEN):
        refresh_token = RefreshToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        return refresh_token is not None and _revoke_refresh_token(refresh_token, where, actor)
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
    _notify(_affected_users(token.user, token.application), name, token.application)
    return True


def _revoke_first_party(token: FirstPartyToken, where: str, actor: User | None) -> bool:
    if not revoke_first_party_token(token=token, actor=actor, reason=where):
        return False
    _notify({token.user}, "page token", token.app)
    return True


def _revoke_refresh_token(refresh_token: RefreshToken, where: str, actor: User | None) -> bool:
    """Revoke the family, even of a token that was used since: nobody knows by whom."""
    if not revoke_family(family=refresh_token.token_family, reason=where, actor=actor):
        return False
    _notify(_affected_users(refresh_token.user, refresh_token.application), "refresh token", refresh_token.application)
    return True


def _affected_users(user: User, app: App | None) -> set[User]:
    """Return the owner of the account, and the developer of the app that leaked the credential."""
    return {user} if app is None or app.user is None else {user, app.user}


def _notify(users: set[User], what: str, app: App | None) -> None:
    """Mail the owners, each a few times a day at most, so that reports cannot fill a mailbox."""
    since = timezone.now() - timedelta(days=1)
    for user in users:
        sent = audit.history_of(user).filter(action="user.tell_leak", at__gt=since).count()
        if sent >= bounds.LEAK_MAILS_A_DAY:
            continue
        audit.record("user.tell_leak", user, actor=None, what=what)
        own_app = app if app is not None and app.user_id == user.pk else None
        last = sent + 1 == bounds.LEAK_MAILS_A_DAY
        mail(user, "developers/credential_leaked", what=what, app=app, own_app=own_app, last=last)


def _reason(finding: Finding) -> str:
    return f"Reported as leaked, found at {finding.url}" if finding.url else "Reported as leaked"
