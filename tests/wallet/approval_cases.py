"""Purchases that wait for the wallet's owner, for tests of approvals."""

from typing import Any

from django.utils import timezone

from catalog.models import Listing
from developers.models import Consent
from developers.principals import Principal
from marketplace.accounts.models import User
from tests.factories import AppFactory
from tests.shop import on_sale
from wallet.models import Approval
from wallet.services.approvals import approve_purchase
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import Receipt
from wallet.services.spending_requests import spend_or_request_approval

from .spenders import connected, limit, own_key, personal

PRICE = 49_900
KEY = "k"


def bounded(user: User, **limit_values: Any) -> Principal:
    """Return a personal token that may spend a rupee at once, or within these limits."""
    principal = personal(user)
    limit(principal, **(limit_values or {"per_purchase_minor": 100}))
    return principal


def bounded_key(user: User) -> Principal:
    principal = own_key(user)
    limit(principal, per_purchase_minor=100)
    return principal


def bounded_app(user: User) -> Principal:
    """Return a connected app that may spend a rupee at once."""
    app = AppFactory(granted_scopes="wallet:spend")
    now = timezone.now()
    Consent.objects.create(user=user, app=app, audience="api", scope="wallet:spend", given_at=now, renewed_at=now)
    principal = connected(user, app)
    limit(principal, per_purchase_minor=100)
    return principal


def buy_or_ask(principal: Principal, listing: Listing, key: str | None = KEY, **choices: Any) -> Receipt | Approval:
    return bought_or_asked(principal, listing, key, **choices)[0]


def bought_or_asked(principal: Principal, listing: Listing, key: str | None = KEY, **choices: Any) -> tuple[Receipt | Approval, bool]:
    quote_id, reason = choices.pop("quote_id", None), choices.pop("reason", "For the poster")
    purchase = PurchaseRequest(str(listing.pk), "INR", **choices)
    return spend_or_request_approval(purchase=purchase, quote_id=quote_id, idempotency_key=key, reason=reason, principal=principal)


def requested_approval(principal: Principal, listing: Listing | None = None, key: str = KEY, **choices: Any) -> Approval:
    approval = buy_or_ask(principal, listing or on_sale(), key, **choices)
    assert isinstance(approval, Approval)
    return approval


def approved_purchase(principal: Principal, listing: Listing | None = None, key: str = KEY) -> Approval:
    return approve_purchase(approval=requested_approval(principal, listing, key), actor=principal.user)


def complete_purchase(principal: Principal, listing: Listing, key: str = KEY) -> Receipt:
    receipt = buy_or_ask(principal, listing, key)
    assert isinstance(receipt, Receipt)
    return receipt
