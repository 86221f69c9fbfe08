"""Where a vendor's earnings go: who may say so, what is a bank account, and how a change by somebody else is undone."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.core import signing
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from developers.errors import PasswordRequired
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition, NotFound
from marketplace.core.models import AuditEntry
from tests.callers import said
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.wallet.payees import ACCOUNTS, BIC, HOLDER, IBAN, IFSC, NUMBER, changed_bank_account, end_waiting_time
from tests.web.markup import faults_of, soup
from vendors import bounds
from vendors.errors import PayoutsHeld, TooManyPayoutChanges, VendorNotApproved
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from vendors.selectors import has_waited, payout_details_of
from vendors.services.payout_details import bank_account_of, hold_payouts, payout_change_of, release_payouts, undo_payout_change

from .cases import make_vendor

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PASSWORD = "correct horse battery staple"
LINK = re.compile(r"/payout-details/undo/(\S+)")


@pytest.fixture
def profile() -> VendorProfile:
    profile = make_vendor()
    profile.user.set_password(PASSWORD)
    profile.user.save()
    return profile


@pytest.fixture
def client(profile: VendorProfile) -> Client:
    client = Client()
    client.force_login(profile.user)
    return client


def token_of(details: PayoutDetails) -> str:
    return signing.dumps(str(details.pk), salt="vendors.payout-details.undo")


def form(**given: str) -> dict[str, str]:
    return {"holder": HOLDER, **ACCOUNTS["USD"], "password": PASSWORD, **given}


@pytest.mark.parametrize(
    ("currency", "account", "pointer"),
    [
        ("USD", {"number": "DE89370400440532013001"}, "#/number"),
        ("USD", {"number": ""}, "#/number"),
        ("USD", {"number": "9" * 61}, "#/number"),
        ("USD", {"number": "DE89\n370400440532013000"}, "#/number"),
        ("USD", {"bank": "COBADEFF1"}, "#/bank"),
        ("USD", {"bank": ""}, "#/bank"),
        # A routing number, whose last digit checks the others, and an account.
        ("USD", {"bank": "021000022", "number": "123456789"}, "#/bank"),
        ("USD", {"bank": "021000021"}, "#/number"),
        ("USD", {"bank": "021000021", "number": "123"}, "#/number"),
        ("USD", {"bank": "021000021", "number": "1" * 18}, "#/number"),
        ("USD", {"number": "123456789"}, "#/number"),
        ("USD", {"bank": "021000021", "number": "123456789", "holder": "..."}, "#/holder"),
        ("USD", {"holder": " "}, "#/holder"),
        ("USD", {"holder": "x" * 71}, "#/holder"),
        # Without a character that a SEPA transfer can carry.
        ("USD", {"holder": "🙂..."}, "#/holder"),
        ("USD", {"holder": "a\x00b"}, "#/holder"),
        ("INR", {"number": "12345678"}, "#/number"),
        ("INR", {"number": "1" * 19}, "#/number"),
        ("INR", {"number": "١٢٣٤٥٦٧٨٩"}, "#/number"),
        ("INR", {"number": IBAN}, "#/number"),
        ("INR", {"bank": "SBIN1000300"}, "#/bank"),
        ("INR", {"bank": BIC}, "#/bank"),
    ],
)
def test_invalid_bank_account_is_refused_without_repeating_its_number(
    profile: VendorProfile, currency: str, account: dict[str, str], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        changed_bank_account(profile, currency, **account)
    assert [error["pointer"] for error in refusal.value.members["errors"]] == [pointer]
    assert not PayoutDetails.objects.exists()


@pytest.mark.parametrize(
    ("currency", "typed", "kept"),
    [
        ("USD", {"number": " de89 3704-0044 0532 0130 00", "bank": "cobadeff"}, (IBAN, "COBADEFF")),
        ("USD", {"number": "0012 3456-789", "bank": "0210 0002-1"}, ("00123456789", "021000021")),
        ("INR", {"number": "0001 2345-6789", "bank": "sbin0000300"}, (NUMBER, IFSC)),
    ],
)
def test_bank_account_is_stored_in_its_compact_form(
    profile: VendorProfile, currency: str, typed: dict[str, str], kept: tuple[str, str]
) -> None:
    account = bank_account_of(details=changed_bank_account(profile, currency, **typed))
    assert (account.holder, account.number, account.bank) == (HOLDER, *kept)


def test_bank_account_is_changed_only_by_its_approved_vendor_with_the_password_while_not_held(profile: VendorProfile) -> None:
    with pytest.raises(PasswordRequired):
        changed_bank_account(profile, password_confirmed=False)
    with pytest.raises(NotFound):
        changed_bank_account(profile, actor=UserFactory(is_staff=True, is_superuser=True))
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    with pytest.raises(VendorNotApproved) as refusal:
        changed_bank_account(profile)
    assert refusal.value.members == {"vendorStatus": VendorStatus.SUSPENDED}
    VendorProfile.objects.update(status=VendorStatus.APPROVED)
    hold_payouts(profile=profile, reason="test", actor=UserFactory())
    with pytest.raises(PayoutsHeld):
        changed_bank_account(profile)
    assert not PayoutDetails.objects.exists()


def test_bank_account_cannot_be_changed_too_often_in_a_day(profile: VendorProfile) -> None:
    numbers = [f"{number:012}" for number in range(bounds.PAYOUT_CHANGES_A_DAY + 1)]
    for number in numbers[:-1]:
        changed_bank_account(profile, "INR", number=number)
    with pytest.raises(TooManyPayoutChanges) as refusal:
        changed_bank_account(profile, "INR", number=numbers[-1])
    assert refusal.value.members == {"maximum": bounds.PAYOUT_CHANGES_A_DAY}
    # Another vendor can.
    changed_bank_account(make_vendor(), "INR", number=numbers[-1])
    end_waiting_time(profile, hours=25)
    changed_bank_account(profile, "INR", number=numbers[-1])


def test_saving_the_same_bank_account_changes_nothing(profile: VendorProfile) -> None:
    details = changed_bank_account(profile)
    end_waiting_time(profile)
    assert changed_bank_account(profile).pk == details.pk
    assert has_waited(details)
    assert PayoutDetails.objects.count() == 1


def test_bank_account_encrypted_with_a_lost_key_can_be_entered_again(profile: VendorProfile, settings: Any) -> None:
    lost = changed_bank_account(profile)
    settings.SECRET_KEY = "another-key-another-key-another-key-another-key-more"
    entered = changed_bank_account(profile)
    assert entered.pk != lost.pk
    assert bank_account_of(details=entered).number == IBAN


def test_bank_accounts_are_encrypted_and_shortened_in_audit_log_and_api(
    profile: VendorProfile, bearer_client: Callable[..., APIClient]
) -> None:
    details = changed_bank_account(profile)
    changed_bank_account(profile, "INR")
    assert IBAN not in details.encrypted
    assert HOLDER not in details.encrypted
    entry = history_of(profile).last()
    assert entry is not None
    assert entry.data == {"currency": "USD", "before": None, "after": "IBAN ending in 3000"}
    status = bearer_client(profile.user).get("/api/v1/vendor/application-status").json()
    assert status["payoutMethod"] == "Account ending in 6789 (INR), IBAN ending in 3000 (USD)"


def test_bank_account_form_is_for_vendors_only(profile: VendorProfile) -> None:
    buyer = Client()
    buyer.force_login(UserFactory())
    assert buyer.post(reverse("payout-details", args=["USD"]), form()).status_code == 302
    assert not PayoutDetails.objects.exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"password": "not theirs"}, "The password is incorrect"),
        ({"number": "DE00"}, "not a valid IBAN"),
    ],
)
def test_bank_account_form_shows_what_is_wrong(client: Client, given: dict[str, str], words: str) -> None:
    answer = client.post(reverse("payout-details", args=["USD"]), form(**given))
    assert answer.status_code == 400
    assert faults_of(answer.content) == []
    assert words in answer.content.decode()
    assert not PayoutDetails.objects.exists()


@pytest.mark.parametrize("currency", ["EUR", "usd"])
def test_currency_that_wallets_do_not_hold_has_no_form(client: Client, currency: str) -> None:
    assert client.get(reverse("payout-details", args=[currency])).status_code == 404


def test_bank_account_form_is_shown_as_a_page_of_the_payouts(client: Client) -> None:
    page = soup(client.get(reverse("payout-details", args=["USD"])))
    assert [link.get_text() for link in page.select(".side [aria-current]")] == ["Payouts"]


def test_vendor_changes_the_bank_account_and_is_mailed(
    client: Client, profile: VendorProfile, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("payout-details", args=["USD"]), form())
    assert answer["Location"] == reverse("payouts")
    page = client.get(reverse("payout-details", args=["USD"]))
    assert faults_of(page.content) == []
    assert "IBAN ending in 3000" in page.content.decode()
    assert IBAN not in page.content.decode()
    (message,) = outbox.outbox
    assert message.to == [profile.user.email]
    assert "List-Unsubscribe" not in message.extra_headers
    assert IBAN not in message.body
    body = str(message.body)
    assert LINK.search(body)
    said = (
        f"Earnings of {profile.store.name} in USD are paid to this bank account: IBAN ending in 3000",
        "waits for 72 hours",
        "works for 7 days",
    )
    assert [words for words in said if words not in body] == []


def test_undo_link_of_the_mail_restores_the_earlier_bank_account_and_holds_the_payouts(
    client: Client, profile: VendorProfile, django_capture_on_commit_callbacks: Any
) -> None:
    earlier = changed_bank_account(profile)
    end_waiting_time(profile)
    with django_capture_on_commit_callbacks(execute=True):
        changed_bank_account(profile, number="GB33BUKB20201555555555", bank="BUKBGB22")
    changed_bank_account(profile, number="NL91ABNA0417164300", bank="ABNANL2A")
    found = LINK.search(str(outbox.outbox[-1].body))
    assert found
    link, stranger = reverse("payout-details-undo", args=[found[1]]), Client()
    # Programs that open every link of a mail change nothing.
    assert faults_of(stranger.get(link).content) == []
    assert PayoutDetails.objects.filter(withdrawn_at__isnull=False).count() == 0
    with django_capture_on_commit_callbacks(execute=True):
        page = stranger.post(link)
    assert faults_of(page.content) == []
    profile.refresh_from_db()
    # With it goes every later one.
    assert payout_details_of(profile)["USD"].pk == earlier.pk
    assert profile.payouts_held_at is not None
    # Whoever changed it is signed out.
    assert client.get(reverse("payouts")).status_code == 302
    assert outbox.outbox[-1].subject == f"Payouts of {profile.store.name} are held"
    held_at = profile.payouts_held_at
    stranger.post(link)
    profile.refresh_from_db()
    assert (profile.payouts_held_at, AuditEntry.objects.filter(action="vendor.undo_payout_details").count()) == (held_at, 1)


def test_undo_link_used_again_after_the_release_keeps_the_new_bank_account(profile: VendorProfile) -> None:
    details = changed_bank_account(profile)
    undo_payout_change(token=token_of(details))
    release_payouts(profile=profile, reason="It is them.", actor=UserFactory())
    new = changed_bank_account(profile, number="GB33BUKB20201555555555", bank="BUKBGB22")
    undo_payout_change(token=token_of(details))
    profile.refresh_from_db()
    assert payout_details_of(profile)["USD"].pk == new.pk
    assert profile.payouts_held_at is None


def test_undo_links_of_several_changes_work_in_any_order(profile: VendorProfile) -> None:
    earlier = changed_bank_account(profile)
    end_waiting_time(profile)
    first = changed_bank_account(profile, number="GB33BUKB20201555555555", bank="BUKBGB22")
    second = changed_bank_account(profile, number="NL91ABNA0417164300", bank="ABNANL2A")
    # Neither is in this currency of this vendor.
    others = changed_bank_account(profile, "INR"), changed_bank_account(make_vendor())
    undo_payout_change(token=token_of(second))
    assert payout_details_of(profile)["USD"].pk == first.pk
    an_hour_ago = timezone.now() - timedelta(hours=1)
    PayoutDetails.objects.filter(pk=second.pk).update(withdrawn_at=an_hour_ago)
    undo_payout_change(token=token_of(first))
    assert payout_details_of(profile)["USD"].pk == earlier.pk
    second.refresh_from_db()
    assert second.withdrawn_at == an_hour_ago
    assert not PayoutDetails.objects.filter(pk__in=[each.pk for each in others], withdrawn_at__isnull=False).exists()


def test_forged_link_is_not_found() -> None:
    for token in ("x", "IjAx:1:2"):
        for method in (Client().get, Client().post):
            assert method(reverse("payout-details-undo", args=[token])).status_code == 404


def test_expired_undo_link_and_one_of_a_deleted_account_are_not_found(profile: VendorProfile, monkeypatch: pytest.MonkeyPatch) -> None:
    token = token_of(changed_bank_account(profile))
    monkeypatch.setattr("vendors.bounds.UNDO_DAYS", -1)
    with pytest.raises(NotFound):
        payout_change_of(token=token)
    monkeypatch.undo()
    assert payout_change_of(token=token)
    PayoutDetails.objects.update(encrypted="", label="")
    with pytest.raises(NotFound):
        undo_payout_change(token=token)


def test_undo_link_works_while_the_account_is_deactivated(profile: VendorProfile) -> None:
    details = changed_bank_account(profile)
    profile.user.is_active = False
    profile.user.save()
    assert undo_payout_change(token=token_of(details)).payouts_held_at is not None
    assert payout_details_of(profile) == {}


def test_payouts_are_held_and_released_once_and_the_vendor_is_told_of_both(profile: VendorProfile) -> None:
    staff = UserFactory()
    with pytest.raises(InvalidTransition):
        release_payouts(profile=profile, reason="test", actor=staff)
    hold_payouts(profile=profile, reason="test", actor=staff)
    with pytest.raises(InvalidTransition):
        hold_payouts(profile=profile, reason="test", actor=staff)
    with pytest.raises(InvalidInput):
        release_payouts(profile=profile, reason="", actor=staff)
    assert release_payouts(profile=profile, reason="test", actor=staff).payouts_held_at is None
    held, released = sent_mails()
    assert "The reason:\n\ntest\n" in str(held.body)
    assert [profile.store.name in str(letter.subject) for letter in (held, released)] == [True, True]
    assert (held.to, released.to) == ([profile.user.email], [profile.user.email])


def test_mail_and_undo_page_mention_an_earlier_bank_account_only_if_there_is_one(client: Client, profile: VendorProfile) -> None:
    details = changed_bank_account(profile), changed_bank_account(profile, number="DE02120300000000202051", bank="BYLADEM1001")
    mails = [str(mail.body) for mail in sent_mails()]
    pages = [client.get(reverse("payout-details-undo", args=[token_of(each)])).content.decode() for each in details]
    for told in (mails, pages):
        assert ["the earlier account applies again" in text for text in told] == [False, True]
    assert ["are paid to another bank account" in mail for mail in mails] == [False, True]


def test_reencrypting_bank_accounts_uses_the_current_key_and_names_lost_ones(profile: VendorProfile, settings: Any) -> None:
    details = changed_bank_account(profile)
    changed_bank_account(profile, "INR")
    # That of a deleted account.
    PayoutDetails.objects.filter(pk=changed_bank_account(make_vendor()).pk).update(encrypted="", label="")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another-key-another-key-another-key-another-key-more"
    said("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS = []
    details.refresh_from_db()
    assert bank_account_of(details=details).number == IBAN
    settings.SECRET_KEY = "a-third-key-a-third-key-a-third-key-a-third-key-third"
    with pytest.raises(CommandError, match=f"bank accounts of 1 vendors cannot be decrypted: {profile.pk}"):
        said("reencrypt_secrets")
