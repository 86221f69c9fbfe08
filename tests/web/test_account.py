"""One's own account: the copy of the data, other sessions, the end of it. Nothing of it works for anybody else."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail as outbox
from django.db import connections, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.services.submission import unpublish_listing
from marketplace.accounts.errors import AccountInUse
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account, rename_user
from marketplace.core.errors import NotFound
from marketplace.core.models import AuditEntry
from marketplace.core.transitions import lock
from marketplace.http.refusals import FORM_REQUIRED
from marketplace.operations import exports
from marketplace.operations.errors import ExportRequestedRecently
from marketplace.operations.exports import export_of, read_export, request_export, write_export
from marketplace.operations.models import AccountExport
from tests.callers import said
from tests.factories import PASSWORD, UserFactory
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from tests.wallet.payees import account_of, paid_payout, payee
from tests.wallet.top_up_cases import deliver_event, paid_top_up
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]

Browse = Callable[..., Client]


@pytest.fixture
def user() -> User:
    user: User = UserFactory(email="asha@example.com", name="Asha")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def deletion(**changes: str) -> dict[str, str]:
    return {"email": "asha@example.com", "password": PASSWORD} | changes


def test_get_of_a_form_address_says_that_a_form_is_needed(browse: Browse, user: User) -> None:
    looked = browse(user).get(reverse("account-sessions"), headers={"accept": "text/html"})
    assert looked.status_code == 405
    # Nothing was sent that the page could speak of.
    assert FORM_REQUIRED in looked.content.decode()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"email": "other@example.com"}, "not the address"),
        ({"password": "wrong"}, 'value="asha@example.com"'),
        ({"email": "\0", "password": "\0"}, "Null characters"),
    ],
)
def test_deletion_with_another_address_or_password_is_refused(browse: Browse, user: User, sent: dict[str, str], words: str) -> None:
    page = browse(user).post(reverse("account-delete"), deletion(**sent))
    text = read(page, 400)
    assert words in text
    assert PASSWORD not in text
    user.refresh_from_db()
    assert user.is_active


def test_wrong_passwords_for_the_deletion_of_the_account_are_rate_limited_without_calling_the_right_one_wrong(
    browse: Browse, user: User, settings: Any
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"reauthenticate": "3/m/user"}
    client = browse(user)
    for _ in range(3):
        assert "The password is incorrect." in read(client.post(reverse("account-delete"), deletion(password="wrong")), 400)
    page = read(client.post(reverse("account-delete"), deletion()), 400)
    assert ("tried too often" in page, "incorrect" in page) == (True, False)
    assert User.objects.get(pk=user.pk).is_active


def test_account_with_a_balance_is_not_deleted_and_shows_what_to_settle(browse: Browse) -> None:
    user = funded(inr=12_345, usd=100, email="asha@example.com")
    client = browse(user)
    text = client.get(reverse("account-delete")).content.decode()
    assert "The wallet holds ₹123.45" in text
    assert "The wallet holds $1.00" in text
    assert reverse("wallet-payout-new") in text
    assert "Delete my account" not in text
    assert client.post(reverse("account-delete"), deletion()).status_code == 400
    assert User.objects.get(pk=user.pk).is_active


def test_vendor_is_not_deleted_with_earnings_that_no_digest_covers_yet_or_with_debts(browse: Browse) -> None:
    vendor = payee()
    listing = on_sale(store=vendor.store)
    order = bought(listing)
    vendor.user.email = "asha@example.com"
    vendor.user.save()
    listing.status = "Draft"
    listing.published_at = None
    listing.save()
    client = browse(vendor.user)
    assert "The vendor account holds ₹399.20" in client.get(reverse("account-delete")).content.decode()
    assert client.post(reverse("account-delete"), deletion()).status_code == 400
    paid_payout(account_of(vendor))
    refund_order(order=order, reason="test", actor=None)
    assert "owes ₹399.20 after refunds" in client.get(reverse("account-delete")).content.decode()
    assert client.post(reverse("account-delete"), deletion()).status_code == 400
    assert User.objects.get(pk=vendor.user.pk).is_active


def test_vendor_is_not_deleted_while_earnings_are_withheld_for_a_dispute() -> None:
    top_up = paid_top_up(amount_minor=49_900)
    listing = on_sale()
    bought(listing, top_up.user)
    unpublish_listing(listing=listing, actor=listing.store.owner)
    deliver_event(top_up, EventKind.DISPUTED)
    with pytest.raises(AccountInUse, match="withheld"):
        delete_account(user=listing.store.owner, reason="test", actor=None)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    assert delete_account(user=listing.store.owner, reason="test", actor=None).deleted


def test_deleting_the_account_ends_all_sessions_and_erases_name_and_address(
    browse: Browse, user: User, django_capture_on_commit_callbacks: Any
) -> None:
    client, elsewhere = browse(user), browse(user)
    with django_capture_on_commit_callbacks(execute=True):
        gone = client.post(reverse("account-delete"), deletion(email=" ASHA@example.com "), follow=True)
    assert gone.redirect_chain == [(reverse("landing"), 302)]
    assert "Your account is deleted" in gone.content.decode()
    assert {each.get(reverse("account")).status_code for each in (client, elsewhere)} == {302}
    user.refresh_from_db()
    assert (user.is_active, user.name, user.email) == (False, "", f"{user.pk.hex}@deleted.invalid")
    entry = AuditEntry.objects.get(action="user.delete")
    assert (entry.actor_id, entry.reason) == (None, "Asked for on the account page.")
    assert [message.to for message in outbox.outbox] == [["asha@example.com"]]


@pytest.mark.parametrize("name", ["x" * 121, "Asha\u202e"])
def test_invalid_name_is_refused_and_kept_in_the_form(browse: Browse, user: User, name: str) -> None:
    read(browse(user).post(reverse("account"), {"name": name}), 400)
    user.refresh_from_db()
    assert user.name == "Asha"


def test_name_is_set_and_cleared(browse: Browse, user: User) -> None:
    client = browse(user)
    for name in (" Asha R. ", ""):
        assert client.post(reverse("account"), {"name": name}).status_code == 302
        user.refresh_from_db()
        assert user.name == name.strip()


def test_signing_out_other_sessions_keeps_this_one(browse: Browse, user: User) -> None:
    client, elsewhere, stranger = browse(user), browse(user), browse(UserFactory())
    assert client.post(reverse("account-sessions")).status_code == 302
    assert [each.get(reverse("account")).status_code for each in (client, elsewhere, stranger)] == [200, 302, 200]


def test_export_is_prepared_by_a_job_announced_by_mail_and_downloaded(
    browse: Browse, user: User, django_capture_on_commit_callbacks: Any
) -> None:
    client = browse(user, confirmed=True)
    assert client.get(reverse("account-export-file")).status_code == 404
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("account-export"))
    assert browse(confirmed=True).get(reverse("account-export-file")).status_code == 404
    assert reverse("account-export-file") in read(client.get(reverse("account")))
    file = client.get(reverse("account-export-file"))
    assert file["Content-Disposition"].startswith('attachment; filename="my-data-')
    assert "no-store" in file["Cache-Control"]
    assert json.loads(file.content)["account"]["email"] == user.email
    assert [message.subject for message in outbox.outbox] == ["The export of your data is ready"]
    # The mail leads to a page that asks who one is; what lies in the database says nothing by itself.
    assert "export.json" not in str(outbox.outbox[0].body)
    assert user.email not in AccountExport.objects.get().encrypted


def test_export_needs_the_password_again(browse: Browse, user: User) -> None:
    client = browse(user)
    asked = client.post(reverse("account-export"))["Location"]
    assert asked.startswith(reverse("account_reauthenticate"))
    assert export_of(user) is None
    client.post(asked, {"password": PASSWORD, "next": reverse("account-export")})
    assert export_of(user) is not None
    assert browse(user).get(reverse("account-export-file"))["Location"].startswith(reverse("account_reauthenticate"))


def test_second_export_is_refused_within_an_hour_and_then_replaces_the_first(user: User, browse: Browse) -> None:
    first = request_export(user=user, actor=user)
    with pytest.raises(ExportRequestedRecently):
        request_export(user=user, actor=user)
    assert "within the last hour" in browse(user, confirmed=True).post(reverse("account-export"), follow=True).content.decode()
    write_export.call(str(first.pk))
    with pytest.raises(ExportRequestedRecently):
        request_export(user=user, actor=user)
    AccountExport.objects.update(requested_at=timezone.now() - exports.MIN_INTERVAL - timedelta(seconds=1))
    second = request_export(user=user, actor=user)
    assert AccountExport.objects.get().pk == second.pk
    # The job of the one that is gone, or a second run, does no harm.
    write_export.call(str(first.pk))
    assert not AccountExport.objects.get().ready


def test_requests_of_a_deleted_account_are_not_found(user: User) -> None:
    delete_account(user=User.objects.get(pk=user.pk), reason="test", actor=None)
    with pytest.raises(NotFound):
        request_export(user=user, actor=user)
    with pytest.raises(NotFound):
        rename_user(user=user, name="Asha", actor=user)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_deletion_of_an_account_and_its_export_do_not_deadlock(user: User) -> None:
    export = request_export(user=user, actor=user)
    # Tests run jobs at once; this one is still to come.
    AccountExport.objects.update(encrypted="")
    written = threading.Event()

    def write() -> None:
        try:
            write_export.call(str(export.pk))
        finally:
            connections.close_all()
            written.set()

    with transaction.atomic():
        # As far as a deletion has come before it removes the copy.
        lock(User.objects.all(), pk=user.pk)
        writer = threading.Thread(target=write)
        writer.start()
        assert written.wait(PATIENCE_SECONDS)
        AccountExport.objects.filter(user=user).delete()
    writer.join()


def test_export_encrypted_with_a_lost_key_is_not_found(browse: Browse, user: User) -> None:
    write_export.call(str(request_export(user=user, actor=user).pk))
    AccountExport.objects.update(encrypted="x")
    assert browse(user, confirmed=True).get(reverse("account-export-file")).status_code == 404


def test_export_expires_and_is_deleted(browse: Browse, user: User) -> None:
    write_export.call(str(request_export(user=user, actor=user).pk))
    write_export.call(str(AccountExport.objects.get().pk))
    AccountExport.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert (export_of(user), read_export(user)) == (None, None)
    assert browse(user, confirmed=True).get(reverse("account-export-file")).status_code == 404
    assert said("purge", "exports", dry_run=True) == "1 exports would be deleted.\n"
    assert said("purge", "exports") == "1 exports deleted.\n"
    assert not AccountExport.objects.exists()
