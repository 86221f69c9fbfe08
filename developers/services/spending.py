"""Spending limits: what a wallet's owner allows programs to spend, and an admin's ceilings. The wallet enforces them."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, bounds, texts
from marketplace.core.errors import NotFound
from marketplace.core.money import WALLET_CURRENCIES, Currency
from marketplace.core.scopes import Scope, parse_scopes
from marketplace.core.transitions import lock, lock_for_decision

from ..errors import LastSpendingLimit
from ..models import AccessToken, App, SpendingLimit
from ..models.credentials import TokenKind
from ..models.spending import AMOUNTS
from ..selectors import connected_apps_of, limits_of
from .states import tell_developer

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Caps:
    """How much may be spent in one currency; None: no bound of this sort.

    Args:
        currency: One that a wallet holds.
        per_purchase_minor: At once.
        per_day_minor: In a day of UTC.
        total_minor: Ever.
        categories: Slugs of what may be bought; empty: all.
    """

    currency: Currency
    per_purchase_minor: int | None = None
    per_day_minor: int | None = None
    total_minor: int | None = None
    categories: Sequence[str] = ()


@transaction.atomic
def set_spending_limit(*, owner: User, spender: App | AccessToken, caps: Caps, actor: User) -> SpendingLimit:
    """Say how much an app or a personal token may spend from the owner's wallet, in place of what was said before.

    Raises:
        InvalidInput: no amount, one that is not above zero, another currency than a wallet holds, or odd categories.
        NotFound: the token is not the owner's, or the app neither belongs to the owner nor is connected.
    """
    _check(caps)
    # Two at once are written one after the other, and none while the owner's last limits are counted.
    owner = lock(User.objects.all(), pk=owner.pk)
    if not _may_spend_from(owner, spender):
        raise NotFound
    subject = {"app": spender} if isinstance(spender, App) else {"token": spender}
    return _set("spending_limit.set", caps, actor, "", owner=owner, **subject)


@transaction.atomic
def replace_spending_limits(*, owner: User, spender: App | AccessToken, limits: Sequence[Caps], actor: User) -> None:
    """Set these limits, and remove the owner's others for the same app or token.

    Raises:
        InvalidInput: as in `set_spending_limit`.
        LastSpendingLimit: none is left for a token that may spend.
        NotFound: as in `set_spending_limit`.
    """
    owner = lock(User.objects.all(), pk=owner.pk)
    if not _may_spend_from(owner, spender):
        raise NotFound
    for caps in limits:
        set_spending_limit(owner=owner, spender=spender, caps=caps, actor=actor)
    kept = [caps.currency for caps in limits]
    for limit in limits_of(owner, spender).exclude(currency__in=kept):
        remove_spending_limit(limit=limit, actor=actor)


@transaction.atomic
def remove_spending_limit(*, limit: SpendingLimit, actor: User) -> None:
    """Take a limit away: a personal token or another's app can then not spend that currency, one's own app without bound.

    Raises:
        LastSpendingLimit: it is the only one of a token that may spend.
        NotFound: the limit is not the actor's, or is gone.
    """
    lock(User.objects.all(), pk=actor.pk)
    limit = lock(SpendingLimit.objects.all(), pk=limit.pk, owner=actor)
    others = SpendingLimit.objects.filter(token=limit.token).exclude(pk=limit.pk)
    if limit.token is not None and Scope.WALLET_SPEND in parse_scopes(limit.token.scope) and not others.exists():
        raise LastSpendingLimit
    _remove("spending_limit.remove", limit, actor, "")


@transaction.atomic
def set_spending_ceiling(*, app: App, caps: Caps, reason: str, actor: User) -> SpendingLimit:
    """Set the most that an app may spend from any one wallet, whatever the wallet's owner allows, and tell its developer.

    Raises:
        InvalidInput: no reason, or amounts as in `set_spending_limit`.
        SelfReview: the app is the actor's.
    """
    reason = texts.prose(reason, "reason")
    _check(caps)
    app = lock_for_decision(App.objects.select_related("user"), pk=app.pk, owner="user_id", actor=actor)
    ceiling = _set("spending_ceiling.set", caps, actor, reason, owner=None, app=app)
    tell_developer(app, "developers/ceiling_set", ceiling=ceiling, reason=reason)
    return ceiling


@transaction.atomic
def lift_spending_ceiling(*, app: App, currency: Currency, reason: str, actor: User) -> None:
    """Take an app's ceiling away, and tell its developer; what the wallets' owners allow holds on.

    Raises:
        InvalidInput: no reason.
        NotFound: the app has no ceiling in this currency.
        SelfReview: the app is the actor's.
    """
    reason = texts.prose(reason, "reason")
    app = lock_for_decision(App.objects.select_related("user"), pk=app.pk, owner="user_id", actor=actor)
    _remove("spending_ceiling.lift", lock(SpendingLimit.objects.all(), app=app, owner=None, currency=currency), actor, reason)
    tell_developer(app, "developers/ceiling_lifted", currency=currency, reason=reason)


def _may_spend_from(owner: User, spender: App | AccessToken) -> bool:
    if isinstance(spender, AccessToken):
        return spender.kind == TokenKind.PERSONAL and spender.user_id == owner.pk
    return spender.user_id == owner.pk or connected_apps_of(owner).filter(pk=spender.pk).exists()


def _check(caps: Caps) -> None:
    if caps.currency not in WALLET_CURRENCIES:
        raise texts.invalid("currency", "invalid_choice", "A wallet holds INR and USD.")
    amounts = {name: getattr(caps, name) for name in AMOUNTS}
    for name, amount in amounts.items():
        if amount is not None and not 1 <= amount <= bounds.SPENDING_LIMIT_MINOR:
            highest = f"{bounds.SPENDING_LIMIT_MINOR // 100:,}"
            raise texts.invalid(name, "out_of_range", f"From 0.01 to {highest}.")
    if not any(amounts.values()):
        raise texts.invalid("per_purchase_minor", "required", "At least one amount is required.")
    if len(caps.categories) > bounds.SPENDING_CATEGORIES:
        raise texts.invalid("categories", "max_length", f"At most {bounds.SPENDING_CATEGORIES} categories.")
    for slug in caps.categories:
        if len(slug) > bounds.SLUG_CHARS or not _SLUG.fullmatch(slug):
            raise texts.invalid("categories", "invalid", "Categories are named by their slugs, such as fonts.")


def _set(action: str, caps: Caps, actor: User, reason: str, **subject: Any) -> SpendingLimit:
    values = asdict(caps) | {"categories": sorted(set(caps.categories))}
    currency = values.pop("currency")
    before = SpendingLimit.objects.filter(currency=currency, **subject).first()
    told = None if before is None else _told(before)
    limit, _ = SpendingLimit.objects.update_or_create(currency=currency, **subject, defaults=values | {"set_by": actor})
    if told == _told(limit):
        return limit
    audit.record(action, _subject_of(limit), actor=actor, reason=reason, currency=currency, before=told, after=_told(limit))
    return limit


def _remove(action: str, limit: SpendingLimit, actor: User, reason: str) -> None:
    told, subject = _told(limit), _subject_of(limit)
    limit.delete()
    audit.record(action, subject, actor=actor, reason=reason, currency=limit.currency, before=told, after=None)


def _subject_of(limit: SpendingLimit) -> App | AccessToken:
    """Return what the audit entry is about: the app's or the token's page shows it."""
    subject = limit.app or limit.token
    if subject is None:
        message = "a limit without app and token cannot be stored"
        raise TypeError(message)
    return subject


def _told(limit: SpendingLimit) -> dict[str, Any]:
    return {name: getattr(limit, name) for name in (*AMOUNTS, "categories")}
