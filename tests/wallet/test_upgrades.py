"""Licence upgrades: the price of the new licence less what was paid, one licence at a time, and back again by refunds and disputes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, LicenseTier, Listing
from library.models import Licence
from library.selectors import current_file, current_licences_of, owned_licence, owned_version, owned_versions
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidTransition, Problem
from tests.factories import DeliverableFactory, UserFactory
from tests.races import outcomes_at_once, until_someone_waits
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.models import Order, TopUp
from wallet.models.top_ups import EventKind
from wallet.selectors import wallet_of
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from . import purchases
from .test_discounts import discounted
from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]


def upgraded(order: Order, to: str = "commercial", *, origin: str = "personal", **choices: Any) -> Order:
    order.buyer.refresh_from_db()
    return bought(order.listing, order.buyer, license_slug=to, upgrade_from=origin, **choices)


def live(order: Order) -> set[str]:
    return set(current_licences_of(order.buyer).filter(suspended_at__isnull=True).values_list("tier__slug", flat=True))


def give_back(order: Order) -> None:
    refund_order(order=order, reason="test", actor=UserFactory(is_staff=True))


def buy(order: Order, to: str, *, origin: str | None = "personal", **choices: Any) -> Callable[[], Any]:
    purchase = PurchaseRequest(str(order.listing_id), license_slug=to, upgrade_from=origin, **choices)
    return lambda: spend(buyer=order.buyer, purchase=purchase)[0].debited_minor


def refusal(order: Order, to: str, **choices: Any) -> str:
    with pytest.raises(Problem) as refused:
        buy(order, to, **choices)()
    return refused.value.code


def test_upgrade_is_to_the_next_tier_costs_the_difference_and_replaces_the_licence(bearer_client: Client) -> None:
    listing = on_sale(tax_rate_bp=1800)
    user = funded(inr=200_000)
    client = bearer_client(user)
    purchases.spend(client, listing)
    answer = purchases.spend(client, listing, upgradeFrom="personal").json()
    assert (answer["debited"], answer["upgradeFrom"], answer["upgradeCredit"], answer["taxIncluded"]) == (499.0, "personal", 499.0, 76.12)
    assert [item["licenseSlug"] for item in client.get("/api/v1/library").json()["items"]] == ["commercial"]
    shown = [(item["upgradeFrom"], item["upgradeCredit"]) for item in client.get("/api/v1/orders").json()["items"]]
    assert shown == [("personal", 499.0), (None, 0.0)]
    assert wallet_of(user).balance_inr_minor == 100_200


def test_chained_upgrade_costs_the_target_less_all_that_was_paid_and_refunds_restore_one_licence_after_the_other() -> None:
    first = bought(on_sale(), funded(inr=1_000_000))
    second = upgraded(first)
    third = upgraded(first, "extended", origin="commercial")
    assert [order.price_minor for order in (first, second, third)] == [49_900, 49_900, 3 * 49_900]
    assert third.upgrade_credit_minor == 99_800
    for blocked in (first, second):
        with pytest.raises(InvalidTransition):
            give_back(blocked)
    assert live(first) == {"extended"}
    for order, restored in ((third, {"commercial"}), (second, {"personal"}), (first, set())):
        give_back(order)
        assert live(first) == restored
    actions = [entry.action for entry in history_of(Licence.objects.get(order_id=first.pk))]
    assert actions == ["licence.revoke", "licence.unreplace"]
    assert wallet_of(first.buyer).balance_inr_minor == 1_000_000


def test_licence_that_an_upgrade_replaced_is_not_sold_again_and_can_be_upgraded_again_after_a_refund() -> None:
    first = bought(on_sale())
    second = upgraded(first)
    assert refusal(first, "personal", origin=None) == "already_owned"
    assert refusal(first, "extended") == "upgrade_unavailable"
    give_back(second)
    assert upgraded(first, "extended").price_minor == 4 * 49_900


def test_invalid_upgrade_is_refused() -> None:
    order, commercial = bought(on_sale()), bought(on_sale(), license_slug="commercial")
    for to, origin, code in (
        ("extended", "unknown", "upgrade_unavailable"),
        ("extended", "commercial", "upgrade_unavailable"),
        ("personal", "personal", "already_owned"),
        ("nothing", "personal", "license_not_available"),
    ):
        assert refusal(order, to, origin=origin) == code
    # Neither a lower tier nor one that costs as much.
    assert refusal(commercial, "personal", origin="commercial") == "upgrade_unavailable"
    LicenseTier.objects.filter(slug="commercial").update(price_factor=Decimal(1))
    assert refusal(order, "commercial") == "upgrade_unavailable"


def test_upgrade_is_paid_in_the_currency_of_the_first_purchase(bearer_client: Client) -> None:
    listing, user = on_sale(), funded(inr=100_000, usd=10_000)
    client = bearer_client(user)
    purchases.spend(client, listing, currency="USD")
    answer = purchases.spend(client, listing, upgradeFrom="personal", currency="INR")
    assert (answer.status_code, answer.json()["code"], answer.json()["currency"]) == (409, "upgrade_currency_differs", "USD")
    # The wallet's preference is INR, and the upgrade in dollars all the same.
    assert purchases.spend(client, listing, upgradeFrom="personal").json()["debitedUSD"] == 10.0


def test_upgrade_without_a_price_in_its_currency_names_no_other(bearer_client: Client) -> None:
    listing, user = on_sale(), funded(inr=100_000, usd=10_000)
    client = bearer_client(user)
    purchases.spend(client, listing)
    Listing.objects.update(price_inr_minor=None)
    answer = purchases.spend(client, listing, upgradeFrom="personal").json()
    assert (answer["code"], answer["availableCurrencies"]) == ("price_unavailable", [])
    assert answer["detail"] == "It has no price in INR. An upgrade is paid in the currency of the first purchase."


def test_upgrade_to_a_tier_that_costs_less_than_was_paid_is_free_and_keeps_what_was_paid() -> None:
    first = bought(on_sale())
    Listing.objects.filter(pk=first.listing_id).update(price_inr_minor=10_000)
    second = upgraded(first)
    assert (second.price_minor, second.upgrade_credit_minor) == (0, 20_000)
    Listing.objects.filter(pk=first.listing_id).update(price_inr_minor=20_000)
    assert upgraded(first, "extended", origin="commercial").price_minor == 100_000 - 49_900
    give_back(Order.objects.get(license_slug="extended"))
    give_back(second)
    assert live(first) == {"personal"}


def test_discount_applies_to_the_target_before_what_was_paid_is_deducted() -> None:
    first = bought(on_sale())
    discounted(first.listing, percent=50)
    second = upgraded(first, "extended")
    assert (second.price_minor, second.discount_minor, second.upgrade_credit_minor) == (124_750 - 49_900, 124_750, 49_900)


def test_quote_of_an_upgrade_is_charged_as_quoted_for_the_licence_it_was_made_for(bearer_client: Client) -> None:
    listing, user = on_sale(), funded(inr=1_000_000)
    client = bearer_client(user)
    purchases.spend(client, listing)
    promised, dearer = (
        purchases.ask_quote(client, listing, upgradeFrom="personal", licenseSlug=slug).json() for slug in ("commercial", "extended")
    )
    assert (dearer["price"], dearer["upgradeFrom"], dearer["upgradeCredit"]) == (1996.0, "personal", 499.0)
    other = purchases.spend(client, listing, quoteId=dearer["quoteId"], upgradeFrom="commercial")
    assert (other.json()["code"], other.json()["field"]) == ("quote_mismatch", "upgradeFrom")
    LicenseTier.objects.filter(slug="commercial").update(price_factor=Decimal(1))
    Listing.objects.filter(pk=listing.pk).update(price_inr_minor=100)
    answer = purchases.spend(client, listing, quoteId=promised["quoteId"]).json()
    assert (answer["debited"], answer["licenseSlug"], answer["upgradeCredit"]) == (499.0, "commercial", 499.0)
    for order in Order.objects.order_by("-created_at"):
        give_back(order)
    assert purchases.spend(client, listing, quoteId=dearer["quoteId"]).json()["code"] == "upgrade_unavailable"
    # Bought again at another price, it is another licence.
    purchases.spend(client, listing)
    assert purchases.spend(client, listing, quoteId=dearer["quoteId"]).json()["code"] == "upgrade_unavailable"


def test_upgrade_of_a_retired_tier_is_possible() -> None:
    order = bought(on_sale())
    LicenseTier.objects.filter(slug="personal").update(is_active=False)
    # The price of the listing is now that of the first tier on sale.
    assert upgraded(order).price_minor == 0


def test_upgraded_licence_covers_the_current_file() -> None:
    order = bought(on_sale())
    newer = DeliverableFactory(listing=order.listing, approved_at=timezone.now())
    Listing.objects.filter(pk=order.listing_id).update(approved_deliverable=newer)
    upgraded(order)
    licence = owned_licence(order.buyer, str(order.listing_id))
    assert (licence.tier.slug, licence.deliverable) == ("commercial", newer)
    assert set(owned_versions(licence)) == {newer, order.deliverable}
    assert owned_version(licence, str(order.deliverable_id)) == order.deliverable
    assert current_file(licence) == newer
    Deliverable.objects.filter(pk=newer.pk).update(blocked_at=timezone.now())
    assert current_file(owned_licence(order.buyer, str(order.listing_id))) == order.deliverable


def test_certificate_of_a_replaced_licence_says_so(bearer_client: Client) -> None:
    order = bought(on_sale())
    second = upgraded(order)
    certificate = f"/api/v1/certificates/{Licence.objects.get(order_id=order.pk).pk}"
    assert bearer_client().get(certificate).json()["status"] == "replaced"
    give_back(second)
    assert bearer_client().get(certificate).json()["status"] == "valid"


def test_database_refuses_two_upgrades_of_one_licence() -> None:
    order = bought(on_sale())
    second = upgraded(order)
    third = bought(on_sale(), order.buyer)
    replaced = Licence.objects.get(order_id=order.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        Licence.objects.filter(order_id=third.pk).update(replaces=replaced)
    assert Licence.objects.get(replaces=replaced).order_id == second.pk


def test_disputed_upgrade_is_suspended_and_a_lost_dispute_restores_the_first_licence() -> None:
    first = bought(on_sale(), funded(inr=49_900))
    top_up = paid_top_up(first.buyer, 49_900)
    second = upgraded(first)
    deliver_event(top_up, EventKind.DISPUTED)
    assert live(first) == set()
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    second.refresh_from_db()
    assert (second.status, live(first)) == ("ChargedBack", {"personal"})


def both_disputed() -> tuple[list[TopUp], list[Order]]:
    """Return two disputed top-ups, and the purchase and its upgrade that they paid."""
    first_top_up = paid_top_up(amount_minor=49_900)
    first = bought(on_sale(), first_top_up.user)
    second_top_up = paid_top_up(first_top_up.user, 49_900)
    orders = [first, upgraded(first)]
    # The second dispute freezes the upgrade, so that the first one finds the first purchase.
    for top_up in (second_top_up, first_top_up):
        deliver_event(top_up, EventKind.DISPUTED)
    assert live(first) == set()
    return [first_top_up, second_top_up], orders


def test_lost_dispute_of_the_first_purchase_refunds_the_upgrade() -> None:
    top_ups, orders = both_disputed()
    deliver_event(top_ups[0], EventKind.DISPUTE_LOST)
    assert live(orders[0]) == set()
    deliver_event(top_ups[1], EventKind.DISPUTE_WON)
    for order, status in zip(orders, ("ChargedBack", "Refunded"), strict=True):
        order.refresh_from_db()
        assert order.status == status
    assert live(orders[0]) == set()
    assert wallet_of(orders[0].buyer).balance_inr_minor == 49_900


def test_won_dispute_of_the_first_purchase_restores_the_upgrade() -> None:
    top_ups, (first, _) = both_disputed()
    deliver_event(top_ups[1], EventKind.DISPUTE_WON)
    # The purchase below it is still disputed.
    assert live(first) == set()
    deliver_event(top_ups[0], EventKind.DISPUTE_WON)
    assert live(first) == {"commercial"}


def test_free_upgrade_of_a_disputed_purchase_is_suspended_and_ends_with_it_and_a_disputed_licence_is_not_upgraded() -> None:
    top_up, other = paid_top_up(amount_minor=49_900), paid_top_up(amount_minor=49_900)
    first, unchanged = bought(on_sale(), top_up.user), bought(on_sale(), other.user)
    Listing.objects.filter(pk=first.listing_id).update(price_inr_minor=100)
    second = upgraded(first)
    for disputed in (top_up, other):
        deliver_event(disputed, EventKind.DISPUTED)
    assert live(first) == set()
    assert refusal(unchanged, "commercial") == "upgrade_unavailable"
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    second.refresh_from_db()
    assert (second.status, live(first)) == ("Refunded", set())


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_free_upgrade_during_a_dispute_of_its_purchase_is_suspended_with_it() -> None:
    user = funded()
    top_up = paid_top_up(user, 49_900)
    first = bought(on_sale(), user)
    Listing.objects.filter(pk=first.listing_id).update(price_inr_minor=100)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            upgraded(first)
            waiting = pool.submit(outcomes_at_once, partial(deliver_event, top_up, EventKind.DISPUTED))
            until_someone_waits()
        waiting.result(PATIENCE_SECONDS)
    assert (Licence.objects.filter(suspended_at__isnull=False).count(), live(first)) == (2, set())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("price", [49_900, 100], ids=["paid", "free"])
def test_one_of_two_concurrent_upgrades_succeeds(price: int) -> None:
    for _ in range(4):
        order = bought(on_sale())
        Listing.objects.filter(pk=order.listing_id).update(price_inr_minor=price)
        outcomes = outcomes_at_once(buy(order, "commercial"), buy(order, "extended"))
        assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
        assert set(map(str, outcomes)) & {"license_not_upgradable", "upgrade_unavailable"}
        assert Licence.objects.filter(holder=order.buyer, revoked_at=None, replaced_at=None).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("price", [49_900, 100], ids=["paid", "free"])
def test_concurrent_upgrade_and_refund_of_its_licence_end_in_one_of_them(price: int) -> None:
    for _ in range(4):
        order = bought(on_sale())
        Listing.objects.filter(pk=order.listing_id).update(price_inr_minor=price)
        upgrade, refund = outcomes_at_once(buy(order, "commercial"), partial(refund_order, order=order, reason="test", actor=None))
        if isinstance(refund, Order):
            assert upgrade in {"license_not_upgradable", "upgrade_unavailable"}
            assert live(order) == set()
        else:
            assert (refund, live(order)) == ("invalid_transition", {"commercial"})
