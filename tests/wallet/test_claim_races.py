"""Many claims at once, and claims that meet a refund, another purchase or the end of an account."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from library.licensees import Licensee
from library.models import Licence
from library.services.claims import claim_licence
from marketplace.accounts.services import delete_account
from tests.factories import UserFactory
from tests.races import THREADS, outcomes_at_once
from tests.shop import funded, on_sale
from wallet.models import Order
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .licensee_cases import CLIENT, bought_for, secret_sent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def claiming(secret: str, actor: Any) -> Callable[[], Any]:
    return partial(claim_licence, secret=secret, actor=actor)


def test_one_of_concurrent_claims_of_a_licence_succeeds() -> None:
    bought_for(on_sale())
    secret, accounts = secret_sent(), [UserFactory() for _ in range(THREADS)]
    outcomes = outcomes_at_once(*(claiming(secret, account) for account in accounts))
    assert outcomes.count("claim_ended") == THREADS - 1
    winner = next(account for account, outcome in zip(accounts, outcomes, strict=True) if outcome != "claim_ended")
    assert Licence.objects.get().holder == winner


def test_account_can_claim_only_one_of_several_licences_of_one_asset() -> None:
    listing, client = on_sale(), UserFactory()
    licensees = [Licensee("L", f"l{number}@l.example") for number in range(THREADS)]
    payer = funded(inr=10_000_000)
    for licensee in licensees:
        bought_for(listing, payer, licensee)
    outcomes = outcomes_at_once(*(claiming(secret_sent(licensee), client) for licensee in licensees))
    assert outcomes.count("already_owned") == THREADS - 1
    assert Licence.objects.filter(holder=client).count() == 1


def test_one_of_concurrent_purchases_for_one_licensee_succeeds() -> None:
    listing = on_sale()
    purchase = PurchaseRequest(str(listing.pk), licensee=CLIENT)
    outcomes = outcomes_at_once(*(partial(spend, buyer=funded(inr=49_900), purchase=purchase) for _ in range(THREADS)))
    assert outcomes.count("already_owned") == THREADS - 1
    assert Order.objects.count() == 1


def test_concurrent_claim_and_refund_of_a_licence_leave_no_valid_licence() -> None:
    for number in range(4):
        licensee = Licensee("L", f"l{number}@l.example")
        order = bought_for(on_sale(), licensee=licensee)
        claimed, _ = outcomes_at_once(
            claiming(secret_sent(licensee), UserFactory()), partial(refund_order, order=order, reason="test", actor=None)
        )
        licence = Licence.objects.get(order_id=order.pk)
        assert licence.revoked_at is not None
        assert (licence.holder is None) == (claimed == "claim_ended")


def test_claim_during_the_deletion_of_the_account_leaves_no_name_behind() -> None:
    for number in range(4):
        client, licensee = UserFactory(), Licensee("L", f"l{number}@l.example")
        order = bought_for(on_sale(), licensee=licensee)
        claimed, _ = outcomes_at_once(
            claiming(secret_sent(licensee), client), partial(delete_account, user=client, reason="test", actor=None)
        )
        licence = Licence.objects.get(order_id=order.pk)
        assert (licence.holder is None) == (claimed == "not_found")
        assert (licence.licensee_name == "") == (licence.holder is not None)
