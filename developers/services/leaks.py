"""Handles reports of leaked secrets: they are revoked at once, and their owners get an email.

Anyone may report, so mails contain no text of a report: where a secret was found is recorded in the audit log only.
"""

import logging
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.ui.mail import mail

from .. import bounds
from ..models import AccessToken, ApiKey, App, FirstPartyToken, RefreshToken
from ..secrets import BEARER_PREFIXES, Prefix, digest_of, well_formed
from .credentials import revoke_api_key, revoke_token
from .first_party import revoke_first_party_token
from .oauth import revoke_family

logger = logging.getLogger(__name__)


def report_leaks(*, places: Mapping[str, str]) -> None:
    """Revoke the active credentials among reported secrets and mail their owners; ignore the rest.

    `places` has the URL where each secret was found, empty if the report does not say. A failure does not stop the others. The first one is
    raised at the end, so that the report is sent again; credentials that were already revoked are ignored then. Nothing is returned: a
    reporter must not learn which credentials are real.
    """
    failures = []
    for secret, url in places.items():
        try:
            with transaction.atomic():
                _revoke(secret, url)
        except Exception as error:  # noqa: BLE001 - it is raised below
            # The message may contain the row, and the traceback the secret.
            logger.error("A reported credential could not be revoked: %s", type(error).__name__)  # noqa: TRY400
            failures.append(error)
    if failures:
        raise failures[0]


def _revoke(secret: str, url: str) -> None:
    digest = digest_of(secret)
    reason = f"Reported as leaked, found at {url}" if url else "Reported as leaked"
    if well_formed(secret, Prefix.API_KEY):
        key = ApiKey.objects.select_related("app__user").filter(digest=digest).first()
        if key is not None and key.is_active and revoke_api_key(key=key, actor=None, reason=reason):
            _mail_owner_and_developer(key.app.developer, f"API key {key}", key.app)
    elif well_formed(secret, *BEARER_PREFIXES):
        token = AccessToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        if token is not None and token.is_active and revoke_token(token=token, actor=None, reason=reason):
            # An unnamed token is called by its kind, such as `OAuth token (…a1b2)`.
            what = f"token {token}" if token.name else f"{token.get_kind_display()} token (…{token.hint})"
            _mail_owner_and_developer(token.user, what, token.application)
    elif well_formed(secret, Prefix.FIRST_PARTY_TOKEN):
        page_token = FirstPartyToken.objects.select_related("user").filter(digest=digest, expires_at__gt=timezone.now()).first()
        if page_token is not None and revoke_first_party_token(token=page_token, actor=None, reason=reason):
            _mail_owner_and_developer(page_token.user, "first-party token", page_token.app)
    elif well_formed(secret, Prefix.REFRESH_TOKEN):
        refresh_token = RefreshToken.objects.select_related("user", "application__user").filter(token_checksum=digest).first()
        # The family ends even if the token was used since: nobody knows by whom.
        if refresh_token is not None and revoke_family(family=refresh_token.token_family, reason=reason, actor=None):
            _mail_owner_and_developer(refresh_token.user, "refresh token", refresh_token.application)


def _mail_owner_and_developer(owner: User, what: str, app: App | None) -> None:
    """Mail the owner of the account and the developer of the app, each a few times a day at most, so that reports cannot fill a mailbox."""
    since = timezone.now() - timedelta(days=1)
    for user in {owner} if app is None or app.user is None else {owner, app.user}:
        sent = audit.history_of(user).filter(action="user.notify_leak", at__gt=since).count()
        if sent >= bounds.LEAK_MAILS_A_DAY:
            continue
        audit.record("user.notify_leak", user, actor=None, what=what)
        own_app = app if app is not None and app.user_id == user.pk else None
        last = sent + 1 == bounds.LEAK_MAILS_A_DAY
        mail(user, "developers/credential_leaked", what=what, app=app, own_app=own_app, last=last)
