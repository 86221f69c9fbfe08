"""What programs may spend: every refusal names its limit and leaves everything as it was; what is allowed goes through to the last paisa."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from developers.principals import Principal
from developers.services.rotation import rotate_token
from developers.services.spending import LimitValues
from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from tests.callers import personal_token
from tests.contract.calls import rows
from tests.factories import AppFactory, CategoryFactory
from tests.shop import funded, on_sale
from wallet.errors import SpendingLimitExceeded
from wallet.models import Order
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .spenders import connected, limit, own_key, personal

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("midday", "books_agree"), pytest.mark.database]
PRICE = 49_900
Spender = Callable[[User], Principal]


@pytest.fixture
def user() -> User:
    return funded(inr=100 * PRICE, usd=100_000)


def buy(principal: Principal, currency: str = "INR", **fields: Any) -> Order:
    receipt, _ = spend(buyer=principal.user, purchase=PurchaseRequest(str(on_sale(**fields).id), currency), principal=principal)
    return Order.objects.get(pk=receipt.order_id)


def refused(principal: Principal, currency: str = "INR", **fields: Any) -> dict[str, Any]:
    """Return what the refusal of a purchase says, having seen that nothing changed."""
    listing = on_sale(**fields)
    before = rows()
    with pytest.raises(SpendingLimitExceeded) as refusal:
        spend(buyer=principal.user, purchase=PurchaseRequest(str(listing.id), currency), idempotency_key="k", principal=principal)
    assert rows() == before
    return refusal.value.members


@pytest.mark.parametrize("make", [personal, connected])
def test_tokens_and_apps_of_others_cannot_spend_in_a_currency_without_a_limit_of_the_owner(user: User, make: Spender) -> None:
    principal = make(user)
    limit(principal, currency="USD", per_purchase_minor=10_000_000)
    if principal.app is not None:
        limit(principal, app_limit=True, total_minor=10 * PRICE)
    assert refused(principal) == {"limit": "currency", "currency": "INR", "price": 499.0, "cap": 0.0, "left": 0.0}
    assert buy(principal, "USD").price_minor == 1000


@pytest.mark.parametrize("make", [personal, connected, own_key])
def test_purchase_above_the_limit_is_refused_and_one_of_exactly_the_limit_is_not(user: User, make: Spender) -> None:
    principal = make(user)
    limit(principal, per_purchase_minor=PRICE)
    over = refused(principal, price_inr_minor=PRICE + 1)
    assert over == {"limit": "perPurchase", "currency": "INR", "price": 499.01, "cap": 499.0, "left": 499.0}
    assert [buy(principal).price_minor for _ in range(2)] == [PRICE] * 2


@pytest.mark.parametrize(
    ("make", "field", "name"),
    [
        (personal, "per_day_minor", "perDay"),
        (personal, "total_minor", "total"),
        (connected, "total_minor", "total"),
        (own_key, "per_day_minor", "perDay"),
    ],
)
def test_sum_of_purchases_stays_within_the_spending_limit(user: User, make: Spender, field: str, name: str) -> None:
    principal = make(user)
    limit_values: Any = {field: 2 * PRICE + 100}
    limit(principal, **limit_values)
    buy(principal)
    buy(principal)
    assert refused(principal, price_inr_minor=101) == {"limit": name, "currency": "INR", "price": 1.01, "cap": 999.0, "left": 1.0}
    assert buy(principal, price_inr_minor=100).price_minor == 100
    assert refused(principal, price_inr_minor=1)["left"] == 0


def test_yesterdays_purchases_count_for_the_total_only(user: User) -> None:
    principal = personal(user)
    limit(principal, per_day_minor=PRICE, total_minor=2 * PRICE)
    order = buy(principal)
    assert refused(principal)["limit"] == "perDay"
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    Order.objects.filter(pk=order.pk).update(created_at=midnight)
    assert refused(principal)["limit"] == "perDay"
    Order.objects.filter(pk=order.pk).update(created_at=midnight - timedelta(microseconds=1))
    buy(principal)
    Order.objects.update(created_at=midnight - timedelta(days=3))
    assert refused(principal)["limit"] == "total"


def test_refunded_purchase_no_longer_counts_against_the_limits(user: User) -> None:
    principal = personal(user)
    limit(principal, per_day_minor=PRICE, total_minor=PRICE)
    order = buy(principal)
    assert refused(principal)["left"] == 0
    refund_order(order=order, reason="test", actor=None)
    assert buy(principal).price_minor == PRICE
    assert refused(principal)["left"] == 0


def test_purchase_outside_of_the_categories_of_a_limit_is_refused(user: User) -> None:
    principal = connected(user)
    limit(principal, total_minor=10 * PRICE, categories=["fonts", "presets"])
    over = refused(principal, category=CategoryFactory(slug="motion", name="Motion"))
    assert (over["limit"], over["allowedCategories"], over["cap"], over["left"]) == ("category", ["fonts", "presets"], None, None)
    assert buy(principal).price_minor == PRICE


def test_app_limit_of_staff_applies_in_addition_to_the_owners_limit(user: User) -> None:
    app = AppFactory()
    principal = connected(user, app)
    limit(principal, total_minor=10 * PRICE)
    limit(principal, app_limit=True, total_minor=PRICE)
    buy(principal)
    assert refused(principal)["cap"] == 499.0
    # It holds for each wallet by itself.
    neighbour = connected(funded(inr=10 * PRICE), app)
    limit(neighbour, total_minor=10 * PRICE)
    assert buy(neighbour).price_minor == PRICE


def test_purchases_by_all_tokens_of_an_app_and_by_no_others_count_against_a_limit(user: User) -> None:
    app = AppFactory()
    spender, principal, other = connected(user, app), personal(user), personal(user)
    limit(spender, total_minor=2 * PRICE)
    for token in (principal, other):
        limit(token, total_minor=PRICE)
    buy(other)
    buy(own_key(user))
    for _ in range(2):
        buy(connected(user, app))
    limit(principal, currency="USD", total_minor=1000)
    buy(principal, "USD")
    assert buy(principal).price_minor == PRICE
    assert refused(spender)["left"] == 0


def test_rotated_token_inherits_the_spent_amount_of_the_old_one(user: User) -> None:
    limit_values = [LimitValues(Currency.INR, total_minor=3 * PRICE)]
    scopes = frozenset({Scope.WALLET_SPEND})
    first, _ = personal_token(user, scopes, limit_values)
    second, _ = rotate_token(token=first, overlap=timedelta(days=1), actor=user, password_confirmed=True)
    third, _ = rotate_token(token=second, overlap=timedelta(days=1), actor=user, password_confirmed=True)
    old, newest = (Principal(user, None, scopes, CredentialKind.PERSONAL, token) for token in (first, third))
    for principal in (old, newest, old):
        buy(principal)
    for principal in (newest, old):
        with pytest.raises(SpendingLimitExceeded) as refusal:
            buy(principal)
        assert refusal.value.members["limit"] == "total"
    other, _ = personal_token(user, scopes, limit_values)
    buy(Principal(user, None, scopes, CredentialKind.PERSONAL, other))


def test_free_asset_needs_no_limit(user: User) -> None:
    principal = personal(user)
    limit(principal, currency="USD", per_purchase_minor=1, categories=["motion"])
    assert buy(principal, price_inr_minor=0).price_minor == 0


def test_refused_purchase_can_be_repeated_with_its_idempotency_key_once_allowed(user: User) -> None:
    principal, listing = personal(user), on_sale()
    bound = limit(principal, total_minor=1)
    purchase = PurchaseRequest(str(listing.id), "INR")
    with pytest.raises(SpendingLimitExceeded):
        spend(buyer=user, purchase=purchase, idempotency_key="k", principal=principal)
    bound.total_minor = PRICE
    bound.save()
    first, again = (spend(buyer=user, purchase=purchase, idempotency_key="k", principal=principal) for _ in range(2))
    # The second time the limit is reached, and the answer is the first one's.
    assert (first[0], first[1], again[1]) == (again[0], False, True)
