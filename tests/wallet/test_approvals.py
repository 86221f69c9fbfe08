"""Purchases above a spending limit: nothing is bought unless the owner approves it, and then once, at the price that was asked for."""

import datetime as dt
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import override_settings
from django.utils import timezone

from catalog.models import Listing
from developers.errors import PasswordRequired
from developers.models import AccessToken, App, Consent, SpendingLimit
from developers.models.webhooks import WebhookEvent
from developers.principals import Principal
from developers.services.consents import withdraw_consent
from developers.services.rotation import rotate_token
from developers.services.spending import LimitValues
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import IdempotencyKeyReused, InvalidInput, InvalidTransition, NotFound
from marketplace.core.ids import new_id
from marketplace.core.models import IdempotencyRecord
from marketplace.core.money import Currency
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet import bounds
from wallet.approval_queries import approval_for
from wallet.errors import (
    ApprovalDeclined,
    ApprovalExpired,
    IdempotencyKeyRequired,
    InsufficientBalance,
    QuoteUsed,
    SpendingLimitExceeded,
    TooManyApprovals,
)
from wallet.models import Approval, Order, Quote
from wallet.selectors import wallet_of
from wallet.services.approvals import approve_purchase, decline_purchase, suggest_limit
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import expired_quotes, make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import Receipt

from .approval_cases import (
    PRICE,
    approved_purchase,
    bought_or_asked,
    bounded,
    bounded_app,
    bounded_key,
    buy_or_ask,
    complete_purchase,
    requested_approval,
)
from .licensee_cases import CLIENT
from .spenders import connected, limit, personal

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("midday", "books_agree"), pytest.mark.database]
Spender = Callable[[User], Principal]


@pytest.fixture
def user() -> User:
    return funded(inr=100 * PRICE)


@pytest.fixture
def listing() -> Listing:
    return on_sale()


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_purchase_above_a_limit_waits_and_completes_once_it_is_approved(user: User, listing: Listing, make: Spender) -> None:
    principal = make(user)
    waiting, replayed = bought_or_asked(principal, listing)
    assert isinstance(waiting, Approval)
    assert (replayed, bought_or_asked(principal, listing)) == (False, (waiting, True))
    assert (Order.objects.count(), Approval.objects.count()) == (0, 1)
    approve_purchase(approval=waiting, actor=user)
    receipt = complete_purchase(principal, listing)
    assert (receipt.debited_minor, complete_purchase(principal, listing)) == (PRICE, receipt)
    waiting.refresh_from_db()
    assert (waiting.status, str(waiting.order_id)) == ("Completed", receipt.order_id)
    assert wallet_of(user).balance_inr_minor == 99 * PRICE


def test_purchase_above_any_limit_of_the_owner_waits_for_approval_and_one_within_them_is_made_at_once(user: User) -> None:
    amounts: tuple[dict[str, Any], ...] = ({"per_day_minor": 1}, {"total_minor": 1}, {"total_minor": 10 * PRICE, "categories": ["none"]})
    for values in amounts:
        principal, listing = bounded(user, **values), on_sale()
        approved_purchase(principal, listing)
        complete_purchase(principal, listing)
    assert requested_approval(connected(user)).exceeded_limit == "currency"
    assert isinstance(buy_or_ask(bounded(user, per_purchase_minor=PRICE), on_sale()), Receipt)


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


def test_price_and_tax_of_an_approval_hold_and_are_the_quoted_ones_if_there_is_a_quote(user: User, listing: Listing) -> None:
    principal, other = bounded(user), on_sale(tax_rate_bp=1800)
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(other.pk), "INR"))
    approved_purchase(principal, listing)
    Listing.objects.update(price_inr_minor=2 * PRICE, tax_rate_bp=500)
    assert complete_purchase(principal, listing).debited_minor == PRICE
    approval = requested_approval(principal, other, "quoted", quote_id=str(quote.pk))
    assert approval.quote.price_minor == PRICE
    approve_purchase(approval=approval, actor=user)
    receipt = buy_or_ask(principal, other, "quoted", quote_id=str(quote.pk))
    assert isinstance(receipt, Receipt)
    assert (receipt.debited_minor, receipt.tax_minor) == (PRICE, quote.tax_minor)


def test_request_for_approval_needs_an_idempotency_key_which_is_refused_for_another_asset(user: User, listing: Listing) -> None:
    principal = bounded(user)
    with pytest.raises(IdempotencyKeyRequired):
        buy_or_ask(principal, listing, None)
    requested_approval(principal, listing)
    with pytest.raises(IdempotencyKeyReused):
        buy_or_ask(principal, on_sale())


def test_approval_is_not_completed_by_the_same_idempotency_key_of_another_app_or_token(user: User, listing: Listing) -> None:
    principals = [make(user) for make in (bounded, bounded_app, bounded, bounded_app)]
    assert len({approved_purchase(principal, listing).pk for principal in principals}) == len(principals)
    assert not Order.objects.exists()


def test_approval_is_completed_with_a_new_token_of_the_same_app_or_the_one_that_replaced_the_token(user: User, listing: Listing) -> None:
    of_app, replaced, successor, other = bounded_app(user), bounded(user), bounded(user), on_sale()
    approved_purchase(of_app, listing)
    complete_purchase(connected(user, of_app.app), listing)
    approved_purchase(replaced, other)
    AccessToken.objects.filter(pk=successor.credential.pk).update(first_token_id=replaced.credential.pk)
    successor.credential.refresh_from_db()
    complete_purchase(successor, other)


def test_declined_purchase_is_refused_even_if_it_was_approved_before(user: User, listing: Listing) -> None:
    principal = bounded(user)
    decline_purchase(approval=approved_purchase(principal, listing), actor=user)
    with pytest.raises(ApprovalDeclined):
        buy_or_ask(principal, listing)
    with pytest.raises(InvalidTransition):
        approve_purchase(approval=Approval.objects.get(), actor=user)
    assert not Order.objects.exists()


def test_expired_approval_is_neither_decided_nor_used(user: User) -> None:
    principal, listings = bounded(user), {"waiting": on_sale(), "approved": on_sale()}
    approvals = [make(principal, listings[key], key) for make, key in ((requested_approval, "waiting"), (approved_purchase, "approved"))]
    day = dt.timedelta(hours=bounds.APPROVAL_HOURS)
    past = {"created_at": timezone.now() - 2 * day, "expires_at": timezone.now() - day}
    Approval.objects.update(**past)
    for key, listing in listings.items():
        with pytest.raises(ApprovalExpired):
            buy_or_ask(principal, listing, key)
    for decide, approval in product((approve_purchase, decline_purchase), approvals):
        with pytest.raises(ApprovalExpired):
            decide(approval=approval, actor=user)
    Quote.objects.update(**past)
    expired_quotes().delete()
    assert not Approval.objects.exists()


def test_approved_purchase_needs_balance_and_its_receipt_is_repeated_after_the_approval_has_expired(listing: Listing) -> None:
    user = funded(inr=PRICE)
    principal = bounded(user)
    approved_purchase(principal, listing)
    order = bought(on_sale(), user)
    with pytest.raises(InsufficientBalance):
        complete_purchase(principal, listing)
    assert Approval.objects.get().status == "Approved"
    refund_order(order=order, reason="test", actor=None)
    receipt = complete_purchase(principal, listing)
    Approval.objects.update(created_at=timezone.now() - dt.timedelta(days=2), expires_at=timezone.now())
    assert complete_purchase(principal, listing) == receipt


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_purchase_repeated_after_its_approval_and_receipt_have_expired_is_told_its_order(
    user: User, listing: Listing, make: Spender
) -> None:
    principal, day = make(user), dt.timedelta(hours=bounds.APPROVAL_HOURS)
    approved_purchase(principal, listing)
    receipt = complete_purchase(principal, listing)
    Approval.objects.update(created_at=timezone.now() - 2 * day, expires_at=timezone.now() - day)
    IdempotencyRecord.objects.all().delete()
    with pytest.raises(QuoteUsed) as refusal:
        buy_or_ask(principal, listing)
    assert refusal.value.members["orderId"] == receipt.order_id
    assert wallet_of(user).balance_inr_minor == 99 * PRICE


def test_raised_limit_needs_the_password_and_allows_the_next_purchase_too(user: User, listing: Listing) -> None:
    principal = bounded(user, per_purchase_minor=100, categories=["none"])
    approval = requested_approval(principal, listing)
    suggested = suggest_limit(approval=approval)
    assert suggested is not None
    assert (suggested.per_purchase_minor, suggested.per_day_minor, suggested.total_minor) == (PRICE, None, None)
    assert list(suggested.categories) == sorted({"none", listing.category.slug})
    with pytest.raises(PasswordRequired):
        approve_purchase(approval=approval, actor=user, raised_limit=suggested)
    with pytest.raises(InvalidInput):
        approve_purchase(approval=approval, actor=user, raised_limit=LimitValues(Currency.INR), password_confirmed=True)
    assert Approval.objects.get().status == "Waiting"
    approve_purchase(approval=approval, actor=user, raised_limit=suggested, password_confirmed=True)
    complete_purchase(principal, listing)
    assert isinstance(buy_or_ask(principal, on_sale(category=listing.category), "next"), Receipt)


def test_raised_limit_of_a_rotated_token_applies_to_the_old_one_too_while_it_is_valid(user: User, listing: Listing) -> None:
    principal = bounded(user)
    assert isinstance(principal.credential, AccessToken)
    AccessToken.objects.update(lifetime=dt.timedelta(days=30))
    rotate_token(token=principal.credential, overlap=dt.timedelta(days=1), actor=user, password_confirmed=True)
    approval = requested_approval(principal, listing)
    approve_purchase(approval=approval, actor=user, raised_limit=LimitValues(Currency.INR, PRICE), password_confirmed=True)
    assert list(SpendingLimit.objects.values_list("per_purchase_minor", flat=True)) == [PRICE, PRICE]
    assert isinstance(buy_or_ask(principal, on_sale(), "next"), Receipt)


def test_first_limit_of_a_currency_is_suggested_with_every_amount(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    SpendingLimit.objects.all().delete()
    suggested = suggest_limit(approval=requested_approval(principal, listing))
    assert suggested == LimitValues(Currency.INR, PRICE, PRICE, PRICE)


def test_first_limit_of_a_currency_keeps_to_the_categories_of_the_other_one_and_that_of_the_purchase(user: User, listing: Listing) -> None:
    principal = bounded(user, currency="USD", per_purchase_minor=100, categories=["none"])
    suggested = suggest_limit(approval=requested_approval(principal, listing))
    assert suggested is not None
    assert list(suggested.categories) == sorted({"none", listing.category.slug})


def test_purchase_of_a_token_or_app_that_can_no_longer_spend_is_not_approved(user: User, listing: Listing) -> None:
    spenders = bounded(user), *(bounded_app(user) for _ in range(3))
    approvals = [requested_approval(spender, listing) for spender in spenders]
    narrowed, suspended, left = (spender.app for spender in spenders if spender.app is not None)
    AccessToken.objects.update(revoked_at=timezone.now())
    App.objects.filter(pk=narrowed.pk).update(granted_scopes="catalog:read")
    App.objects.filter(pk=suspended.pk).update(status="Suspended")
    User.objects.filter(pk=left.developer.pk).update(is_active=False)
    for approval in approvals:
        fresh = Approval.objects.get(pk=approval.pk)
        assert suggest_limit(approval=fresh) is None
        with pytest.raises(InvalidTransition):
            approve_purchase(approval=fresh, actor=user)


def test_withdrawn_consent_ends_the_approvals_of_the_app(user: User, listing: Listing, django_capture_on_commit_callbacks: Any) -> None:
    principal, other = bounded_app(user), bounded(user)
    requested_approval(principal, listing)
    approved_purchase(principal, on_sale(), "approved")
    bought_before = on_sale()
    approved_purchase(principal, bought_before, "completed")
    complete_purchase(principal, bought_before, "completed")
    of_another_user = connected(funded(inr=PRICE), principal.app)
    limit(of_another_user, per_purchase_minor=100)
    kept = [requested_approval(spender, on_sale(), "other").pk for spender in (other, of_another_user)]
    assert principal.app is not None
    with django_capture_on_commit_callbacks(execute=True):
        withdraw_consent(user=user, app=principal.app, actor=user)
    assert sorted(Approval.objects.filter(owner=user, app=principal.app).values_list("status", flat=True)) == [
        "Completed",
        "Declined",
        "Declined",
    ]
    assert set(Approval.objects.filter(pk__in=kept).values_list("status", flat=True)) == {"Waiting"}


def test_withdrawn_consent_to_ones_own_app_leaves_what_its_key_asked_for(
    user: User, listing: Listing, django_capture_on_commit_callbacks: Any
) -> None:
    key = bounded_key(user)
    assert key.app is not None
    now = timezone.now()
    Consent.objects.create(user=user, app=key.app, audience="api", scope="wallet:spend", given_at=now, renewed_at=now)
    approved_purchase(key, listing)
    with django_capture_on_commit_callbacks(execute=True):
        withdraw_consent(user=user, app=key.app, actor=user)
    assert complete_purchase(key, listing).order_id


def test_approval_above_the_amount_of_the_settings_needs_the_password(user: User, listing: Listing) -> None:
    principal = bounded(user)
    with override_settings(APPROVAL_PASSWORD_ABOVE={"INR": PRICE - 1}):
        approval = requested_approval(principal, listing)
        with pytest.raises(PasswordRequired):
            approve_purchase(approval=approval, actor=user)
        approve_purchase(approval=approval, actor=user, password_confirmed=True)
    with override_settings(APPROVAL_PASSWORD_ABOVE={"INR": PRICE}):
        approve_purchase(approval=requested_approval(principal, on_sale(), "of exactly the amount"), actor=user)


def test_approval_is_seen_by_its_app_and_its_owner_only_and_decided_by_the_owner(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    approval = requested_approval(principal, listing)
    for reader in (principal, personal(user)):
        assert approval_for(reader, str(approval.pk)) == approval
    for reader in (bounded_app(user), personal(UserFactory()), connected(UserFactory(), principal.app)):
        with pytest.raises(NotFound):
            approval_for(reader, str(approval.pk))
    for decide in (approve_purchase, decline_purchase):
        with pytest.raises(NotFound):
            decide(approval=approval, actor=UserFactory(is_staff=True, is_superuser=True))


def test_number_of_approvals_in_a_day_is_bounded_for_each_spender(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "APPROVALS_A_DAY", 1)
    principal = bounded(user)
    decline_purchase(approval=requested_approval(principal), actor=user)
    with pytest.raises(TooManyApprovals):
        buy_or_ask(principal, on_sale(), "second")
    of_app = bounded_app(user)
    requested_approval(of_app, on_sale(), "of another")
    of_another_user = connected(funded(inr=PRICE), of_app.app)
    limit(of_another_user, per_purchase_minor=100)
    requested_approval(of_another_user, on_sale(), "of another")
    Approval.objects.update(created_at=timezone.now() - dt.timedelta(days=1))
    requested_approval(principal, on_sale(), "third")


def test_quote_of_an_approval_does_not_count_as_an_open_one(user: User, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_OPEN_QUOTES", 1)
    requested_approval(bounded(user), listing)
    assert make_quote(buyer=user, purchase=PurchaseRequest(str(listing.pk)))


def test_owner_gets_a_mail_and_the_app_an_event(user: User, listing: Listing) -> None:
    principal = bounded_app(user)
    approval = requested_approval(principal, listing, reason="For the poster", licensee=CLIENT)
    (message,) = [sent for sent in sent_mails() if sent.to == [user.email]]
    assert listing.title in message.subject
    for said in ("For the poster", str(approval.pk), CLIENT.email):
        assert said in message.body
    assert [(entry.action, entry.actor) for entry in history_of(approval)] == [("approval.request", user)]
    approve_purchase(approval=approval, actor=user)
    decline_purchase(approval=approval, actor=user)
    events = WebhookEvent.objects.filter(type="approval.decided").order_by("pk")
    assert {(event.app_id, event.data["approvalId"]) for event in events} == {(principal.app_id, str(approval.pk))}
    assert [event.data["status"] for event in events] == ["Approved", "Declined"]


@pytest.mark.parametrize("make", [bounded, bounded_app])
def test_second_approval_of_an_idempotency_key_is_refused_by_the_database(user: User, make: Spender) -> None:
    approval = requested_approval(make(user))
    quote = make_quote(buyer=user, purchase=PurchaseRequest(str(on_sale().pk), "INR"))
    approval.pk, approval.quote = new_id(), quote
    with pytest.raises(IntegrityError), transaction.atomic():
        approval.save(force_insert=True)


def test_approved_purchase_for_a_licensee_is_for_that_licensee(user: User, listing: Listing) -> None:
    principal = bounded(user)
    approval = requested_approval(principal, listing, licensee=CLIENT)
    assert approve_purchase(approval=approval, actor=user).quote.licensee_email == CLIENT.email
    receipt = buy_or_ask(principal, listing, licensee=CLIENT)
    assert isinstance(receipt, Receipt)
    assert Licence.objects.get(order_id=receipt.order_id).licensee_email == CLIENT.email
    with pytest.raises(IdempotencyKeyReused):
        buy_or_ask(principal, listing)
