"""Purchases above a spending limit: nothing is bought unless the owner approves it, and then once, at the price that was asked for."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import override_settings
from django.utils import timezone

from catalog.models import Listing
from developers.errors import PasswordRequired
from developers.models import AccessToken, App, SpendingLimit
from developers.models.webhooks import WebhookMessage
from developers.principals import Principal
from developers.services.consents import withdraw_consent
from developers.services.spending import LimitValues
from library.errors import AlreadyOwned
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import IdempotencyKeyReused, InvalidTransition, NotFound
from marketplace.core.ids import new_id
from marketplace.core.money import Currency
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet import bounds
from wallet.approval_queries import approval_for
from wallet.errors import (
    ApprovalDeclined,
    ApprovalExpired,
    IdempotencyKeyRequired,
    InsufficientBalance,
    SpendingLimitExceeded,
    TooManyApprovals,
)
from wallet.models import Approval, Order, Quote
from wallet.selectors import wallet_of
from wallet.services.approvals import approve_purchase, decline_purchase, suggest_limit
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import expired_quotes, make_quote
from wallet.services.spending import Receipt, spend

from .approval_cases import KEY, PRICE, approved_purchase, bounded, bounded_app, buy_or_ask, complete_purchase, requested_approval
from .licensee_cases import CLIENT
from .spenders import connected, limit, personal

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("midday", "books_agree"), pytest.mark.database]
Spender = Callable[[User], Principal]


@pytest.fixture
def user() -> User:
    """Someone with plenty."""
    return funded(inr=100 * PRICE)


@pytest.fixture
def listing() -> Listing:
    """Something above every limit here."""
    return on_sale()


def raised(approval: Approval, **amounts: Any) -> None:
    values = LimitValues(Currency.INR, **amounts)
    approve_purchase(approval=approval, actor=approval.owner, raised_limit=values, password_confirmed=True)


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_purchase_above_a_limit_waits_and_completes_once_it_is_approved(user: User, listing: Listing, make: Spender) -> None:
    principal = make(user)
    waiting = requested_approval(principal, listing)
    assert (buy_or_ask(principal, listing), Order.objects.count(), Approval.objects.count()) == (waiting, 0, 1)
    approve_purchase(approval=waiting, actor=user)
    receipt = complete_purchase(principal, listing)
    assert (receipt.debited_minor, complete_purchase(principal, listing)) == (PRICE, receipt)
    waiting.refresh_from_db()
    assert (waiting.status, str(waiting.order_id)) == ("Completed", receipt.order_id)
    assert wallet_of(user).balance_inr_minor == 99 * PRICE


def test_purchase_within_the_limits_is_made_at_once(user: User, listing: Listing) -> None:
    assert isinstance(buy_or_ask(bounded(user, per_purchase_minor=PRICE), listing), Receipt)
    assert not Approval.objects.exists()


@pytest.mark.parametrize("values", [{"per_day_minor": 1}, {"total_minor": 1}, {"total_minor": 10 * PRICE, "categories": ["none"]}], ids=str)
def test_purchase_above_any_limit_of_the_owner_can_wait_for_approval(user: User, listing: Listing, values: dict[str, Any]) -> None:
    principal = bounded(user, **values)
    approved_purchase(principal, listing)
    complete_purchase(principal, listing)


def test_purchase_in_a_currency_without_a_limit_can_wait_for_approval(user: User, listing: Listing) -> None:
    principal = connected(user)
    assert requested_approval(principal, listing).exceeded_limit == "currency"


def test_purchase_above_a_limit_of_staff_cannot_wait_for_approval(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    approved_purchase(principal, listing)
    app_limit = limit(principal, app_limit=True, per_purchase_minor=PRICE - 1)
    with pytest.raises(SpendingLimitExceeded):
        complete_purchase(principal, listing)
    with pytest.raises(SpendingLimitExceeded):
        buy_or_ask(principal, on_sale(), "another")
    app_limit.delete()
    complete_purchase(principal, listing)


def test_request_for_approval_without_an_idempotency_key_is_refused(user: User, listing: Listing) -> None:
    with pytest.raises(IdempotencyKeyRequired):
        buy_or_ask(bounded(user), listing, None)


def test_price_of_an_approval_holds_until_it_expires(user: User, listing: Listing) -> None:
    principal = bounded(user)
    approved_purchase(principal, listing)
    Listing.objects.filter(pk=listing.pk).update(price_inr_minor=2 * PRICE)
    assert complete_purchase(principal, listing).debited_minor == PRICE


def test_approval_is_requested_for_the_quoted_price(user: User, listing: Listing) -> None:
    principal = bounded(user)
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk), "INR"))
    Listing.objects.filter(pk=listing.pk).update(price_inr_minor=2 * PRICE)
    approval = requested_approval(principal, listing, quote_id=str(quote.pk))
    assert approval.quote.price_minor == PRICE
    approve_purchase(approval=approval, actor=user)
    receipt = buy_or_ask(principal, listing, quote_id=str(quote.pk))
    assert isinstance(receipt, Receipt)
    assert receipt.debited_minor == PRICE


def test_idempotency_key_of_an_approval_is_refused_for_another_asset(user: User, listing: Listing) -> None:
    principal = bounded(user)
    requested_approval(principal, listing)
    with pytest.raises(IdempotencyKeyReused):
        buy_or_ask(principal, on_sale())


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_approval_is_not_completed_by_the_same_idempotency_key_of_another_app_or_token(user: User, listing: Listing, make: Spender) -> None:
    approval = approved_purchase(make(user), listing)
    for other in (bounded(user), bounded_app(user)):
        assert requested_approval(other, listing) != approval
    assert not Order.objects.exists()


def test_approval_is_completed_with_a_new_token_of_the_same_app(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    approved_purchase(principal, listing)
    complete_purchase(connected(user, principal.app), listing)


def test_approval_is_completed_with_the_token_that_replaced_the_one_that_asked(user: User, listing: Listing) -> None:
    principal, successor = bounded(user), bounded(user)
    approved_purchase(principal, listing)
    AccessToken.objects.filter(pk=successor.credential.pk).update(first_token_id=principal.credential.pk)
    successor.credential.refresh_from_db()
    complete_purchase(successor, listing)


def test_declined_purchase_is_refused_even_if_it_was_approved_before(user: User, listing: Listing) -> None:
    principal = bounded(user)
    decline_purchase(approval=approved_purchase(principal, listing), actor=user)
    with pytest.raises(ApprovalDeclined):
        buy_or_ask(principal, listing)
    with pytest.raises(InvalidTransition):
        approve_purchase(approval=Approval.objects.get(), actor=user)
    assert not Order.objects.exists()


@pytest.mark.parametrize("make", [requested_approval, approved_purchase])
def test_expired_approval_is_neither_decided_nor_used(user: User, listing: Listing, make: Callable[..., Approval]) -> None:
    principal = bounded(user)
    approval = make(principal, listing)
    day = dt.timedelta(hours=bounds.APPROVAL_HOURS)
    past = {"created_at": timezone.now() - 2 * day, "expires_at": timezone.now() - day}
    Approval.objects.update(**past)
    with pytest.raises(ApprovalExpired):
        buy_or_ask(principal, listing)
    for decide in (approve_purchase, decline_purchase):
        with pytest.raises(ApprovalExpired):
            decide(approval=approval, actor=user)
    Quote.objects.update(**past)
    expired_quotes().delete()
    assert not Approval.objects.exists()


def test_repeated_approved_purchase_gets_its_receipt_after_the_approval_has_expired(user: User, listing: Listing) -> None:
    principal = bounded(user)
    approved_purchase(principal, listing)
    receipt = complete_purchase(principal, listing)
    Approval.objects.update(created_at=timezone.now() - dt.timedelta(days=2), expires_at=timezone.now())
    assert complete_purchase(principal, listing) == receipt


def test_approved_purchase_needs_balance_and_can_be_made_later(listing: Listing) -> None:
    user = funded(inr=PRICE)
    principal = bounded(user)
    approved_purchase(principal, listing)
    order = bought(on_sale(), user)
    with pytest.raises(InsufficientBalance):
        complete_purchase(principal, listing)
    assert order.price_minor == PRICE
    assert Approval.objects.get().status == "Approved"


def test_approved_purchase_of_an_unpublished_or_owned_asset_is_refused(user: User, listing: Listing) -> None:
    principal, other = bounded(user), on_sale()
    approved_purchase(principal, listing)
    Listing.objects.filter(pk=listing.pk).update(status="Rejected")
    with pytest.raises(NotFound):
        complete_purchase(principal, listing)
    approved_purchase(principal, other, "other")
    spend(buyer=user, purchase=PurchaseRequest(str(other.pk), "INR"))
    with pytest.raises(AlreadyOwned):
        complete_purchase(principal, other, "other")


def test_approved_purchase_counts_against_the_limits(user: User, listing: Listing) -> None:
    principal = bounded(user, total_minor=PRICE)
    spent = buy_or_ask(principal, on_sale(), "first")
    assert isinstance(spent, Receipt)
    approved_purchase(principal, listing)
    complete_purchase(principal, listing)
    with pytest.raises(SpendingLimitExceeded):
        spend(buyer=user, purchase=PurchaseRequest(str(on_sale(price_inr_minor=1).pk), "INR"), principal=principal)


def test_raised_limit_allows_the_next_purchase_too(user: User, listing: Listing) -> None:
    principal = bounded(user, per_purchase_minor=100, categories=["none"])
    approval = requested_approval(principal, listing)
    suggested = suggest_limit(approval=approval)
    assert suggested is not None
    assert (suggested.per_purchase_minor, suggested.per_day_minor, suggested.total_minor) == (PRICE, None, None)
    assert list(suggested.categories) == sorted({"none", listing.category.slug})
    with pytest.raises(PasswordRequired):
        approve_purchase(approval=approval, actor=user, raised_limit=suggested)
    approve_purchase(approval=approval, actor=user, raised_limit=suggested, password_confirmed=True)
    complete_purchase(principal, listing)
    assert isinstance(buy_or_ask(principal, on_sale(category=listing.category), "next"), Receipt)


def test_first_limit_of_a_currency_is_suggested_with_every_amount(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    SpendingLimit.objects.all().delete()
    suggested = suggest_limit(approval=requested_approval(principal, listing))
    assert suggested == LimitValues(Currency.INR, PRICE, PRICE, PRICE)


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_purchase_of_a_token_or_app_that_can_no_longer_spend_is_not_approved(user: User, listing: Listing, make: Spender) -> None:
    principal = make(user)
    approval = requested_approval(principal, listing)
    if principal.app is None:
        AccessToken.objects.update(revoked_at=timezone.now())
    else:
        principal.app.granted_scopes = "catalog:read"
        principal.app.save()
    assert suggest_limit(approval=approval) is None
    with pytest.raises(InvalidTransition):
        approve_purchase(approval=approval, actor=user)


@pytest.mark.parametrize("ended", ["app", "developer"])
def test_app_that_is_suspended_or_whose_developer_is_deactivated_is_not_approved(user: User, listing: Listing, ended: str) -> None:
    principal = bounded_app(user)
    approval = requested_approval(principal, listing)
    if ended == "app":
        App.objects.update(status="Suspended")
    else:
        User.objects.filter(pk=App.objects.get().developer.pk).update(is_active=False)
    with pytest.raises(InvalidTransition):
        approve_purchase(approval=approval, actor=user)


def test_withdrawn_consent_ends_the_approvals_of_the_app(user: User, listing: Listing, django_capture_on_commit_callbacks: Any) -> None:
    principal, other = bounded_app(user), bounded(user)
    requested_approval(principal, listing)
    approved_purchase(principal, on_sale(), "approved")
    kept = requested_approval(other, on_sale(), "other")
    assert principal.app is not None
    with django_capture_on_commit_callbacks(execute=True):
        withdraw_consent(user=user, app=principal.app, actor=user)
    assert set(Approval.objects.filter(app=principal.app).values_list("status", flat=True)) == {"Declined"}
    assert Approval.objects.get(pk=kept.pk).status == "Waiting"


def test_approval_above_the_amount_of_the_settings_needs_the_password(user: User, listing: Listing) -> None:
    principal = bounded(user)
    with override_settings(APPROVAL_PASSWORD_ABOVE={"INR": PRICE - 1}):
        approval = requested_approval(principal, listing)
        with pytest.raises(PasswordRequired):
            approve_purchase(approval=approval, actor=user)
        approve_purchase(approval=approval, actor=user, password_confirmed=True)


def test_only_the_owner_of_the_wallet_decides_on_an_approval(user: User, listing: Listing) -> None:
    approval = requested_approval(bounded(user), listing)
    for decide in (approve_purchase, decline_purchase):
        with pytest.raises(NotFound):
            decide(approval=approval, actor=UserFactory(is_staff=True, is_superuser=True))


def test_approval_is_seen_by_its_app_and_its_owner_only(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    approval = requested_approval(principal, listing)
    for reader in (principal, personal(user)):
        assert approval_for(reader, str(approval.pk)) == approval
    assert principal.app is not None
    for reader in (bounded_app(user), personal(UserFactory()), connected(UserFactory(), principal.app)):
        with pytest.raises(NotFound):
            approval_for(reader, str(approval.pk))


def test_number_of_approvals_in_a_day_is_bounded_for_each_spender(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "APPROVALS_A_DAY", 1)
    principal = bounded(user)
    decline_purchase(approval=requested_approval(principal), actor=user)
    with pytest.raises(TooManyApprovals):
        buy_or_ask(principal, on_sale(), "second")
    requested_approval(bounded_app(user), on_sale(), "of another")


def test_owner_gets_a_mail_and_the_app_an_event(user: User, listing: Listing, django_capture_on_commit_callbacks: Any) -> None:
    principal = bounded_app(user)
    with django_capture_on_commit_callbacks(execute=True):
        approval = requested_approval(principal, listing, reason="For the poster")
    (message,) = [sent for sent in mail.outbox if sent.to == [user.email]]
    assert listing.title in message.subject
    assert "For the poster" in message.body
    assert str(approval.pk) in message.body
    approve_purchase(approval=approval, actor=user)
    event = WebhookMessage.objects.get(type="approval.decided")
    assert (event.app_id, event.data["approvalId"], event.data["status"]) == (principal.app_id, str(approval.pk), "Approved")


def test_invalid_raised_limit_approves_nothing(user: User, listing: Listing) -> None:
    approval = requested_approval(bounded(user), listing)
    with pytest.raises(Exception, match="amount"):
        raised(approval)
    assert Approval.objects.get(idempotency_key=KEY).status == "Waiting"


def test_approvals_of_a_deleted_account_are_deleted_and_its_orders_kept(listing: Listing) -> None:
    user = funded(inr=PRICE)
    principal = bounded(user)
    requested_approval(principal, on_sale(price_inr_minor=101), "waiting")
    approved_purchase(principal, listing)
    complete_purchase(principal, listing)
    delete_account(user=user, reason="test", actor=None)
    assert (Approval.objects.count(), Order.objects.count()) == (0, 1)


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_second_approval_of_an_idempotency_key_is_refused_by_the_database(user: User, make: Spender) -> None:
    approval = requested_approval(make(user))
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(on_sale().pk), "INR"))
    approval.pk, approval.quote = new_id(), quote
    with pytest.raises(IntegrityError), transaction.atomic():
        approval.save(force_insert=True)


def test_approved_purchase_for_a_licensee_is_for_that_licensee(user: User, django_capture_on_commit_callbacks: Any) -> None:
    principal, listing = bounded(user), on_sale()
    with django_capture_on_commit_callbacks(execute=True):
        approval = requested_approval(principal, listing, licensee=CLIENT)
    assert CLIENT.email in mail.outbox[0].body
    assert approve_purchase(approval=approval, actor=user).quote.licensee_email == CLIENT.email
    receipt = buy_or_ask(principal, listing, licensee=CLIENT)
    assert isinstance(receipt, Receipt)
    assert Licence.objects.get(order_id=receipt.order_id).licensee_email == CLIENT.email
    with pytest.raises(IdempotencyKeyReused):
        buy_or_ask(principal, listing)
