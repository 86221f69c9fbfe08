"""Spending limits: what a wallet's owner allows programs to spend, and limits that staff set for apps. The wallet enforces them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core import bounds as core_bounds
from marketplace.core.errors import NotFound
from marketplace.core.money import WALLET_CURRENCIES, Currency
from marketplace.core.scopes import Scope, parse_scopes
from marketplace.core.transitions import lock, lock_for_decision

from .. import bounds
from ..errors import LastSpendingLimit
from ..models import AccessToken, App, SpendingLimit
from ..models.spending import AMOUNTS
from ..selectors import app_limits_of, connected_apps_of, owner_spending_limits
from .states import notify_developer


@dataclass(frozen=True)
class LimitValues:
    """Limits in one currency; None: no limit of this kind."""

    currency: Currency
    per_purchase_minor: int | None = None
    # Days are in UTC.
    per_day_minor: int | None = None
    total_minor: int | None = None
    # Slugs of what may be bought; empty: all.
    categories: Sequence[str] = ()


@transaction.atomic
def set_spending_limit(*, owner: User, spender: App | AccessToken, limit_values: LimitValues, actor: User) -> SpendingLimit:
    """Set how much an app or a token without an app may spend from the owner's wallet, replacing an earlier limit.

    Raises:
        InvalidInput: no amount, one that is not above zero, another currency than a wallet holds, or invalid categories.
        NotFound: the account is not active, the token is not the owner's, or the app neither belongs to the owner nor is connected.
    """
    _check_values(limit_values)
    # Changes to the owner's limits are made one after the other, and none while the account is deleted.
    owner = lock(User.objects.filter(is_active=True), pk=owner.pk)
    if not _can_limit(owner, spender):
        raise NotFound
    return _save_limit("spending_limit.set", spender, limit_values, owner=owner, actor=actor)


@transaction.atomic
def replace_spending_limits(*, owner: User, spender: App | AccessToken, limits: Sequence[LimitValues], actor: User) -> None:
    """Set these limits, and remove the owner's others for the same app or token.

    Raises:
        InvalidInput: as in `set_spending_limit`.
        LastSpendingLimit: no limit is left for a token that may spend.
        NotFound: as in `set_spending_limit`.
    """
    owner = lock(User.objects.all(), pk=owner.pk)
    if not _can_limit(owner, spender):
        raise NotFound
    for limit_values in limits:
        set_spending_limit(owner=owner, spender=spender, limit_values=limit_values, actor=actor)
    kept = [limit_values.currency for limit_values in limits]
    for limit in owner_spending_limits(owner, spender).exclude(currency__in=kept):
        remove_spending_limit(limit=limit, actor=actor)


@transaction.atomic
def remove_spending_limit(*, limit: SpendingLimit, actor: User) -> None:
    """Remove a limit.

    A token without an app or another developer's app can then not spend the currency; one's own app can then spend it without a limit, but not
    through the console.

    Raises:
        LastSpendingLimit: it is the only one of a token that may spend.
        NotFound: the limit is not the actor's, or no longer exists.
    """
    lock(User.objects.all(), pk=actor.pk)
    limit = lock(SpendingLimit.objects.all(), pk=limit.pk, owner=actor)
    others = SpendingLimit.objects.filter(token=limit.token).exclude(pk=limit.pk)
    if limit.token is not None and Scope.WALLET_SPEND in parse_scopes(limit.token.scope) and not others.exists():
        raise LastSpendingLimit
    # The database guarantees that it has one of them.
    _delete_limit("spending_limit.remove", cast("App | AccessToken", limit.app or limit.token), limit, actor)


@transaction.atomic
def set_app_spending_limit(*, app: App, limit_values: LimitValues, reason: str, actor: User) -> SpendingLimit:
    """Set the most that an app may spend from any one wallet, whatever the wallet's owner allows, and tell its developer.

    Raises:
        InvalidInput: no reason, or amounts as in `set_spending_limit`.
        SelfReview: the app is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    _check_values(limit_values)
    app = lock_for_decision(App.objects.select_related("user"), pk=app.pk, owner="user_id", actor=actor)
    app_limit = _save_limit("app_spending_limit.set", app, limit_values, owner=None, actor=actor, reason=reason)
    notify_developer(app, "developers/app_limit_set", app_limit=app_limit, reason=reason)
    return app_limit


@transaction.atomic
def remove_app_spending_limit(*, app: App, currency: Currency, reason: str, actor: User) -> None:
    """Remove an app's limit, and notify its developer; limits of the wallets' owners still apply.

    Raises:
        InvalidInput: no reason.
        NotFound: the app has no limit in this currency.
        SelfReview: the app is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    app = lock_for_decision(App.objects.select_related("user"), pk=app.pk, owner="user_id", actor=actor)
    _delete_limit("app_spending_limit.remove", app, lock(app_limits_of(app), currency=currency), actor, reason)
    notify_developer(app, "developers/app_limit_removed", currency=currency, reason=reason)


def _can_limit(owner: User, spender: App | AccessToken) -> bool:
    if isinstance(spender, AccessToken):
        return spender.application_id is None and spender.user_id == owner.pk
    return spender.user_id == owner.pk or connected_apps_of(owner).filter(pk=spender.pk).exists()


def _check_values(limit_values: LimitValues) -> None:
    if limit_values.currency not in WALLET_CURRENCIES:
        raise texts.invalid("currency", "invalid_choice", "A wallet holds INR and USD.")
    amounts = {name: getattr(limit_values, name) for name in AMOUNTS}
    for name, amount in amounts.items():
        if amount is not None and not 1 <= amount <= bounds.MAX_SPENDING_LIMIT_MINOR:
            highest = f"{bounds.MAX_SPENDING_LIMIT_MINOR // 100:,}"
            raise texts.invalid(name, "out_of_range", f"From 0.01 to {highest}.")
    if not any(amounts.values()):
        raise texts.invalid("per_purchase_minor", "required", "At least one amount is required.")
    if len(limit_values.categories) > bounds.MAX_SPENDING_CATEGORIES:
        raise texts.invalid("categories", "max_length", f"At most {bounds.MAX_SPENDING_CATEGORIES} categories.")
    for slug in limit_values.categories:
        if len(slug) > core_bounds.SLUG_CHARS or not texts.SLUG.fullmatch(slug):
            raise texts.invalid("categories", "invalid", "Categories are named by their slugs, such as fonts.")


def _save_limit(
    action: str, spender: App | AccessToken, limit_values: LimitValues, *, owner: User | None, actor: User, reason: str = ""
) -> SpendingLimit:
    values = asdict(limit_values) | {"categories": sorted(set(limit_values.categories)), "set_by": actor}
    lookup: dict[str, Any] = {"owner": owner, "currency": values.pop("currency")}
    present = spender.spending_limits.filter(**lookup).first()
    before = None if present is None else _audited(present)
    limit, _ = spender.spending_limits.update_or_create(**lookup, defaults=values)
    if before != _audited(limit):
        audit.record(action, spender, actor=actor, reason=reason, currency=limit.currency, before=before, after=_audited(limit))
    return limit


def _delete_limit(action: str, spender: App | AccessToken, limit: SpendingLimit, actor: User, reason: str = "") -> None:
    before = _audited(limit)
    limit.delete()
    audit.record(action, spender, actor=actor, reason=reason, currency=limit.currency, before=before, after=None)


def _audited(limit: SpendingLimit) -> dict[str, Any]:
    return {name: getattr(limit, name) for name in (*AMOUNTS, "categories")}
