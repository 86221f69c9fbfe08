"""Consents of users to apps: give one with an authorization code, withdraw it with all its tokens."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.events import emit
from marketplace.core.scopes import SCOPE_LABELS, Scope, format_scopes
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from ..audiences import Audience
from ..events import ConsentWithdrawn
from ..models import AccessToken, App, Consent, Grant, RefreshToken
from ..secrets import digest_of
from ..selectors import developer_name
from .oauth import lock_consents

CODE_AGE = timedelta(seconds=60)


@transaction.atomic
def give_consent(
    *,
    user: User,
    app: App,
    scopes: frozenset[Scope],
    audience: Audience,
    redirect_uri: str,
    code: str,
    code_challenge: str,
    actor: User,
) -> Consent:
    """Record what a user has allowed an app, and save the hash of the code that is issued for it.

    `code_challenge` is the SHA-256 that the app's verifier must have (PKCE). The user gets an email when the app is new or gains scopes, in
    case someone else used their session.

    Raises:
        NotFound: the account is not active.
    """
    now = timezone.now()
    # Simultaneous consents are recorded one after the other, and none of an account that is deleted.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    consent = Consent.objects.filter(user=user, app=app, audience=audience, withdrawn_at=None).first()
    if consent is None:
        consent = Consent(user=user, app=app, audience=audience, given_at=now)
    known, gained = consent.scopes, scopes - consent.scopes
    consent.scope = format_scopes(known | gained)
    consent.renewed_at = now
    consent.save()
    Grant.objects.create(
        user=user,
        application=app,
        code=digest_of(code),
        expires=now + CODE_AGE,
        redirect_uri=redirect_uri,
        scope=format_scopes(scopes),
        code_challenge=code_challenge,
        code_challenge_method=Grant.CODE_CHALLENGE_S256,
        resource=[audience.uri],
    )
    audit.record(
        "consent.give", consent, actor=actor, app=str(app.pk), audience=audience, scopes=format_scopes(scopes), redirect=redirect_uri
    )
    if gained:
        scope_labels = [SCOPE_LABELS[scope] for scope in Scope if scope in gained]
        developer = developer_name(app)
        mail(user, "developers/app_connected", app=app, developer=developer, audience=audience, scope_labels=scope_labels, first=not known)
    return consent


@transaction.atomic
def withdraw_consent(*, user: User, app: App, actor: User, reason: str = "") -> None:
    """Withdraw all that the user allowed the app: its codes, tokens and refresh tokens for this user end at once.

    MCP tokens that a developer created in the dashboard stay valid, even if the developer has also connected the app. Withdrawing again
    changes nothing.
    """
    now = timezone.now()
    lock(User.objects.all(), pk=user.pk)
    # Issuing a token locks its consent too.
    consents = lock_consents(user, app)
    Grant.objects.filter(user=user, application=app, used_at=None).delete()
    RefreshToken.objects.filter(user=user, application=app, revoked=None).update(revoked=now, updated=now)
    # MCP tokens, which have a name, are not issued by a consent.
    ended = AccessToken.objects.active().filter(user=user, application=app, name="").update(revoked_at=now, updated=now)
    for consent in consents:
        consent.withdrawn_at = now
        consent.save(update_fields=["withdrawn_at"])
        audit.record(
            "consent.withdraw",
            consent,
            actor=actor,
            reason=reason,
            app=str(app.pk),
            audience=consent.audience,
            scopes=consent.scope,
            tokens=ended,
        )
    # One's own app goes on asking with its keys and MCP tokens, so what it asked for stays.
    if consents and app.user_id != user.pk:
        emit(ConsentWithdrawn(user.pk, app.pk))


@transaction.atomic
def revoke_consent(*, consent: Consent, reason: str, actor: User) -> None:
    """End, as staff, all consents of a user to the app that this one is for, and notify the user.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: this one was withdrawn meanwhile.
    """
    reason = texts.clean_text(reason, "reason")
    user, app = consent.user, consent.app
    lock(User.objects.all(), pk=user.pk)
    if not Consent.objects.filter(pk=consent.pk, withdrawn_at=None).exists():
        raise InvalidTransition("It has already ended.")
    withdraw_consent(user=user, app=app, actor=actor, reason=reason)
    mail(user, "developers/consent_ended", app=app, reason=reason)
