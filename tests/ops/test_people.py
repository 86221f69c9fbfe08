"""Exports and deletions of accounts, as their users and the operators meet them."""

import errno
import json
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from allauth.account.models import EmailAddress
from django.core import mail as outbox
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing
from catalog.services.submission import unpublish_listing
from developers.models import AccessToken, ApiKey
from developers.services.credentials import issue_api_key, issue_mcp_token, revoke_api_key, revoke_token
from library.licensees import Licensee
from library.models import Licence
from marketplace.accounts.errors import AccountInUse
from marketplace.accounts.events import AccountEffectsRequested
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account, reactivate_user
from marketplace.core.errors import InvalidInput, InvalidTransition, SelfReview
from marketplace.core.events import emit
from marketplace.core.models import AuditEntry
from marketplace.operations.personal_data import export_account
from tests.callers import said
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import reinstate_vendor
from wallet.reconciliation import differences
from wallet.services.funding import credit_wallet
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import mark_payout_paid

from ..callers import personal_token
from ..factories import AppFactory, DeliverableFactory, ListingFactory, UserFactory
from ..shop import archive, bought, funded, on_sale, store_keeping
from ..vendors.cases import make_vendor
from ..wallet.licensee_cases import bought_for, claimed
from ..wallet.payees import account_of, changed_bank_account, end_waiting_time, exported_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PRICE = 49_900
ADDRESS = "a.person@example.com"


def spent() -> User:
    """Return a person who bought something and has nothing left."""
    user = funded(inr=PRICE, email=ADDRESS, name="A Person")
    EmailAddress.objects.create(user=user, email=ADDRESS, verified=True, primary=True)
    bought(on_sale(archive("people"), price_inr_minor=PRICE), user)
    return user


def test_account_with_money_or_goods_of_staff_and_ones_own_is_not_deleted() -> None:
    rich, root = funded(inr=100), UserFactory(is_staff=True, is_superuser=True)
    for user, why in (
        (rich, r"wallet holds ₹1\.00"),
        (on_sale(archive("sold")).store.owner, "on sale"),
        (UserFactory(is_staff=True), "staff"),
    ):
        with pytest.raises(AccountInUse, match=why):
            delete_account(user=user, reason="Asked for.", actor=root)
        assert User.objects.get(pk=user.pk).is_active
    with pytest.raises(SelfReview):
        delete_account(user=root, reason="Asked for.", actor=root)
    with pytest.raises(InvalidInput):
        delete_account(user=UserFactory(), reason=" ", actor=root)


def test_deleted_account_has_no_personal_data_and_its_orders_and_ledger_are_kept(
    key_client: Callable[..., APIClient], bearer_client: Callable[..., APIClient], django_capture_on_commit_callbacks: Any
) -> None:
    user = spent()
    clients = [key_client(user), bearer_client(user)]
    assert [client.get("/api/v1/library").status_code for client in clients] == [200, 200]
    with django_capture_on_commit_callbacks(execute=True):
        delete_account(user=user, reason="Asked for.", actor=None)
    assert AuditEntry.objects.get(action="user.delete").reason == "Asked for."
    user = User.objects.get(pk=user.pk)
    assert (user.email, user.name, user.is_active, user.has_usable_password()) == (f"{user.pk.hex}@deleted.invalid", "", False, False)
    assert [client.get("/api/v1/library").status_code for client in clients] == [401, 401]
    # Not even in the audit log.
    assert ADDRESS not in json.dumps(list(AuditEntry.objects.values()), default=str)
    assert Licence.objects.get(holder=user).revoked_at is None
    assert list(differences()) == []
    assert [message.to for message in outbox.outbox if "deleted" in message.subject] == [[ADDRESS]]


def test_deleted_vendor_leaves_no_draft_and_no_name_behind_and_buyers_what_they_bought(key_client: Callable[..., APIClient]) -> None:
    store = store_keeping(2000)
    vendor, name = store.owner, store.name
    sold, unsold, malicious = (on_sale(archive(content), store=store) for content in ("kept", "unsold", "malicious"))
    Deliverable.objects.filter(listing=malicious).update(blocked_at=timezone.now())
    never = ListingFactory(store=store)
    unapproved = DeliverableFactory(listing=sold, approved_at=None)
    stranger = ListingFactory()
    buyer = funded(inr=10**7)
    order = bought(sold, buyer)
    Listing.objects.filter(pk=sold.pk).update(candidate_deliverable=unapproved)
    for listing in (sold, unsold, malicious):
        unpublish_listing(listing=listing, actor=vendor)
    with pytest.raises(AccountInUse, match="vendor account holds"):
        delete_account(user=vendor, reason="Asked for.", actor=None)
    assert export_account(vendor)["balances"] == [{"kind": "vendor", "currency": "INR", "balance_minor": order.vendor_share_minor}]
    changed_bank_account(vendor.vendor_profile, "INR")
    end_waiting_time(vendor.vendor_profile)
    payout = exported_payout(account_of(vendor.vendor_profile))
    with pytest.raises(AccountInUse, match="on its way"):
        delete_account(user=vendor, reason="Asked for.", actor=None)
    mark_payout_paid(payout=payout, actor=None)
    delete_account(user=vendor, reason="Asked for.", actor=None)
    assert {*Listing.objects.values_list("pk", flat=True)} == {sold.pk, malicious.pk, stranger.pk}
    assert not Deliverable.objects.filter(listing__in=[unsold.pk, never.pk]).exists()
    assert Deliverable.objects.get(listing=sold) == order.deliverable
    store.refresh_from_db()
    assert (store.name, store.slug, store.is_open) == ("Closed store", f"closed-{vendor.pk.hex}", False)
    # The receipt is the buyer's.
    order.refresh_from_db()
    assert order.store_name == name
    assert key_client(buyer).post(f"/api/v1/library/download/{sold.pk}").status_code == 200
    assert list(differences()) == []


def test_store_of_a_deleted_account_waits_in_no_queue_and_is_not_opened_again() -> None:
    for profile in (make_vendor(VendorStatus.PENDING), make_vendor(VendorStatus.SUSPENDED)):
        delete_account(user=profile.user, reason="Asked for.", actor=None)
        with pytest.raises(InvalidTransition, match="was deleted"):
            reinstate_vendor(profile=profile, reason="Explained.", actor=UserFactory())
        profile.store.refresh_from_db()
        assert not profile.store.is_open
    assert not VendorProfile.objects.filter(status=VendorStatus.PENDING).exists()


def test_effects_of_ending_an_account_count_only_what_it_still_has() -> None:
    user, listing = funded(inr=10 * PRICE), on_sale(archive("effects"))
    app = AppFactory(user=user, granted_scopes="catalog:read")
    orders = [bought(on_sale(archive("own")), user), bought(on_sale(archive("own")), user)]
    orders += [bought_for(listing, user, Licensee("Client GmbH", f"{name}@client.example")) for name in ("one", "two", "three")]
    for order in (orders[1], orders[3]):
        refund_order(order=order, reason="test", actor=None)
    claimed(orders[4], UserFactory(), Licensee("Client GmbH", "three@client.example"))
    keys = [issue_api_key(app=app, name=f"key {number}", actor=user)[0] for number in range(4)]
    tokens = [personal_token(user)[0] for _ in range(3)]
    tokens.append(issue_mcp_token(app=app, name="desk", expires_at=timezone.now() + timedelta(days=1), actor=user)[0])
    revoke_api_key(key=keys[0], actor=user)
    revoke_token(token=tokens[0], actor=user)
    past, future = timezone.now() - timedelta(days=1), timezone.now() + timedelta(days=1)
    ApiKey.objects.filter(pk=keys[1].pk).update(expires_at=past)
    ApiKey.objects.filter(pk=keys[2].pk).update(expires_at=future)
    AccessToken.objects.filter(pk=tokens[1].pk).update(expires=past)
    issue_api_key(app=AppFactory(), name="another's", actor=UserFactory())
    personal_token(UserFactory())
    ending = ["Active keys that will stop working: 2.", "Active tokens that will stop working: 2."]
    assert effects_of(user, is_deletion=False) == [*ending, "Listings that stay on sale: 0."]
    found = effects_of(user, is_deletion=True)
    assert found[:3] == [*ending, "Licences that can no longer be used to download: 1."]
    assert found[3].endswith("as nobody can send a new one: 1.")
    assert [sentence.partition(" The user reads: ")[0] for sentence in found[4:]] == ["This is not possible at the moment."]
    seller = listing.store.owner
    ListingFactory(store=listing.store)
    assert effects_of(seller, is_deletion=False)[2] == "Listings that stay on sale: 1."
    assert "Licences that can no longer be used to download: 0." in effects_of(seller, is_deletion=True)


def effects_of(user: User, *, is_deletion: bool) -> list[str]:
    event = AccountEffectsRequested(user.pk, is_deletion=is_deletion, effects=[])
    emit(event)
    return event.effects


def test_deletion_takes_a_reason_and_is_recorded_with_it() -> None:
    user, root = UserFactory(), UserFactory(is_staff=True, is_superuser=True)
    with pytest.raises(InvalidInput):
        delete_account(user=user, reason=" ", actor=root)
    delete_account(user=user, reason="Asked for.", actor=root)
    entry = AuditEntry.objects.get(action="user.delete")
    assert (entry.actor_id, entry.subject_id, entry.reason) == (root.pk, str(user.pk), "Asked for.")


def test_deleted_account_is_neither_deleted_again_nor_opened_nor_credited() -> None:
    user = UserFactory()
    delete_account(user=user, reason="Asked for.", actor=None)
    with pytest.raises(InvalidTransition):
        delete_account(user=user, reason="Twice.", actor=None)
    with pytest.raises(InvalidTransition):
        reactivate_user(user=user, reason="Back.", actor=UserFactory(is_staff=True, is_superuser=True))
    with pytest.raises(InvalidTransition):
        credit_wallet(user=user, currency="INR", amount_minor=100, reason="Late.", actor=None)
    # The address is free for a new account.
    User.objects.create_user(email=user.email, password=None)


def test_export_of_an_account_has_its_data_and_no_secret(key_client: Callable[..., APIClient], tmp_path: Path) -> None:
    user = spent()
    client: Any = key_client(user)
    stranger = bought(on_sale(archive("other")))
    file = tmp_path / "export.json"
    said("export_account", ADDRESS.upper(), "--output", str(file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text(encoding="utf-8")
    found = json.loads(text)
    assert (found["account"]["email"], found["orders"][0]["price_minor"], len(found["licences"])) == (ADDRESS, PRICE, 1)
    assert len(found["apiKeys"]) == 1
    for secret in (client._credentials["HTTP_X_API_KEY"], ApiKey.objects.get().digest, user.password, str(stranger.pk)):
        assert secret not in text
    with pytest.raises(CommandError, match="cannot be written"):
        said("export_account", ADDRESS, "--output", str(file))


def test_export_to_a_full_disk_leaves_no_partial_file(tmp_path: Path) -> None:
    UserFactory(email=ADDRESS)
    file = tmp_path / "export.json"
    with (
        patch("os.fdopen", side_effect=OSError(errno.ENOSPC, "No space left on device")),
        pytest.raises(CommandError, match="No space left"),
    ):
        said("export_account", ADDRESS, "--output", str(file))
    assert not file.exists()
    said("export_account", ADDRESS, "--output", str(file))
    assert ADDRESS in file.read_text()


def test_account_commands_refuse_unknown_users_and_have_a_dry_run() -> None:
    for command in (("export_account", "nobody@example.com"), ("delete_account", "nobody@example.com", "--reason", "x")):
        with pytest.raises(CommandError, match="There is no user"):
            call_command(*command)
    UserFactory(email=ADDRESS)
    assert "can be deleted" in said("delete_account", ADDRESS, "--reason", "Asked for.", "--dry-run")
    assert User.objects.filter(email=ADDRESS, is_active=True).exists()
    said("delete_account", ADDRESS, "--reason", "Asked for.")
    assert not User.objects.filter(email=ADDRESS).exists()
