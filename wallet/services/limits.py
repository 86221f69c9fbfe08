"""Spending limits. A purchase checks them after its debit, whose lock on the wallet makes the sums exact; without that lock they are an estimate."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from developers.models import AccessToken, SpendingLimit
from developers.principals import Principal
from developers.selectors import needs_spending_limit, spending_limits_for
from marketplace.accounts.models import User
from marketplace.core.money import to_number, to_number_or_none

from .. import sql
from ..errors import SpendingLimitExceeded
from ..models import Quote
from .offers import Offer


@dataclass(frozen=True)
class Spent:
    """The amounts that an app or token has spent in one currency, by orders that were not refunded or charged back."""

    ever_minor: int
    today_minor: int


@dataclass(frozen=True)
class UsedLimit:
    """A spending limit of the caller, and what is spent of it."""

    limit: SpendingLimit
    spent: Spent


def enforce_limits(*, offer: Offer, principal: Principal | None, approved: bool) -> None:
    """Refuse a purchase that exceeds the owner's or the app's limit.

    Days are in UTC. If the owner approved the purchase, only limits that staff set for the app refuse it.

    Raises:
        SpendingLimitExceeded: a limit is exceeded; the caller's transaction must be rolled back.
    """
    if principal is None:
        return
    refusal = _find_refusal(principal, offer.currency, offer.price_minor, lambda: offer.listing_offer.category_slug, approved=approved)
    if refusal is not None:
        raise refusal


def find_exceeded_limit(*, quote: Quote, principal: Principal) -> str | None:
    """Return the name of the limit that a purchase of the quote would exceed now, None if it is within all of them."""
    if not quote.price_minor:
        return None
    refusal = _find_refusal(principal, quote.currency, quote.price_minor, lambda: quote.listing.category.slug)
    return None if refusal is None else str(refusal.members["limit"])


def used_limits(*, principal: Principal) -> list[UsedLimit]:
    """Return the limits of the caller's spending, each with what is spent in its currency."""
    limits = spending_limits_for(principal)
    spent = {currency: _spent_by(principal, currency) for currency in sorted({limit.currency for limit in limits})}
    return [UsedLimit(limit, spent[limit.currency]) for limit in limits]


def spender_id_of(principal: Principal) -> uuid.UUID | None:
    """Return the id by which the spending of a token without an app is summed; None for other credentials, which are limited by their app."""
    token = principal.credential
    return token.spender_id if principal.app is None and isinstance(token, AccessToken) else None


_SENTENCES = {
    "perPurchase": "The limit is {limit} {currency} per purchase.",
    "perDay": "{left} {currency} is left of today's limit.",
    "total": "{left} {currency} is left of the limit.",
}


def _find_refusal(
    principal: Principal, currency: str, price_minor: int, find_category: Callable[[], str], *, approved: bool = False
) -> SpendingLimitExceeded | None:
    limits = [limit for limit in spending_limits_for(principal) if limit.currency == currency]
    # Limits that staff set have no owner.
    if approved:
        limits = [limit for limit in limits if limit.owner_id is None]
    elif needs_spending_limit(principal) and all(limit.owner_id is None for limit in limits):
        return _refusal("currency", currency, price_minor, f"Nothing may be spent in {currency}.", limit_minor=0, left_minor=0)
    needs_sums = any(limit.per_day_minor is not None or limit.total_minor is not None for limit in limits)
    spent = _spent_by(principal, currency) if needs_sums else Spent(0, 0)
    for limit in limits:
        if limit.categories and find_category() not in limit.categories:
            sentence = f"Only these categories may be bought from: {', '.join(limit.categories)}."
            return _refusal(
                "category", currency, price_minor, sentence, limit_minor=None, left_minor=None, allowedCategories=limit.categories
            )
        for name, limit_minor, used in (
            ("perPurchase", limit.per_purchase_minor, 0),
            ("perDay", limit.per_day_minor, spent.today_minor),
            ("total", limit.total_minor, spent.ever_minor),
        ):
            if limit_minor is not None and price_minor > (left := max(limit_minor - used, 0)):
                sentence = _SENTENCES[name].format(limit=f"{to_number(limit_minor):.2f}", left=f"{to_number(left):.2f}", currency=currency)
                return _refusal(name, currency, price_minor, sentence, limit_minor=limit_minor, left_minor=left)
    return None


def _spent_by(principal: Principal, currency: str) -> Spent:
    return sum_spent(buyer=principal.user, app_id=principal.app_id, spender_id=spender_id_of(principal), currency=currency)


def sum_spent(*, buyer: User, app_id: uuid.UUID | None, spender_id: uuid.UUID | None, currency: str) -> Spent:
    """Return what was spent in a currency by an app, or by a token without an app and the tokens that it was rotated from."""
    statement = sql.SPENT_BY_TOKEN if app_id is None else sql.SPENT_BY_APP
    spender = spender_id if app_id is None else app_id
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    (row,) = sql.run(statement, buyer=buyer.pk, currency=currency, spender=spender, midnight=midnight)
    return Spent(int(row["ever"]), int(row["today"]))


def _refusal(
    limit: str, currency: str, price_minor: int, sentence: str, *, limit_minor: int | None, left_minor: int | None, **members: Any
) -> SpendingLimitExceeded:
    return SpendingLimitExceeded(
        f"It costs {to_number(price_minor):.2f} {currency}. {sentence}",
        limit=limit,
        currency=currency,
        price=to_number(price_minor),
        cap=to_number_or_none(limit_minor),
        left=to_number_or_none(left_minor),
        **members,
    )
