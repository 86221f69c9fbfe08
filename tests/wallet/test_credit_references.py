"""Credits that name the payment they are for: whoever is not sure may credit it again, and it is credited once."""

import uuid
from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, transaction
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import Problem
from marketplace.core.models import AuditEntry
from tests.admin.pages import staff, text_of
from tests.callers import said, signed_in
from tests.factories import UserFactory
from tests.races import at_once
from wallet import bounds
from wallet.models import CreditReference, Journal
from wallet.selectors import wallet_of
from wallet.services.funding import Payment, credit_wallet
from wallet.services.wallet_payouts import pay_wallet_payout

from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def credited(user: User, amount_minor: int = 500, currency: str = "INR", **given: Any) -> Journal:
    crediting: dict[str, Any] = {"reason": "test", "actor": None, "payment": Payment("UTR 7781")} | given
    return credit_wallet(user=user, currency=currency, amount_minor=amount_minor, **crediting)


def refusal(user: User, **given: Any) -> Problem:
    with pytest.raises(Problem) as excinfo:
        credited(user, **given)
    return excinfo.value


def command(*arguments: str) -> str:
    return said("credit_wallet", *arguments, "--reason", "Invoice 7")


@pytest.mark.parametrize(
    "payment",
    [
        Payment(" "),
        Payment("two\nlines"),
        Payment("x" * (bounds.PAYMENT_REFERENCE_CHARS + 1)),
        Payment("UTR 1", "our bank"),
        Payment("UTR 1", "-"),
        Payment("UTR 1", "x" * (bounds.CREDIT_SOURCE_CHARS + 1)),
    ],
    ids=repr,
)
def test_credit_with_an_invalid_source_or_reference_is_refused(payment: Payment) -> None:
    assert refusal(UserFactory(), payment=payment).code == "invalid_input"
    assert not Journal.objects.exists()


def test_repeated_credit_with_the_same_reference_is_refused() -> None:
    user, actor = UserFactory(), UserFactory()
    credited(user, reason="first")
    for again in ({}, {"reason": "second"}, {"actor": actor}, {"payment": Payment(" UTR 7781 ", "Bank")}):
        problem = refusal(user, **again)
        assert problem.code == "already_credited"
        assert problem.message.startswith("UTR 7781 (bank) was credited on ")
    assert (wallet_of(user).balance_inr_minor, Journal.objects.count()) == (500, 1)


def test_reference_used_with_another_amount_currency_or_user_is_refused_with_what_it_credited() -> None:
    user, other = UserFactory(email="asha@example.com"), UserFactory()
    credited(user)
    for who, given in ((user, {"amount_minor": 501}), (user, {"currency": "USD"}), (other, {})):
        problem = refusal(who, **given)
        assert problem.code == "reference_used"
        assert "₹5.00 to asha@example.com on " in problem.message
    assert Journal.objects.count() == 1


def test_credits_with_another_source_or_reference_or_without_one_are_separate_payments() -> None:
    user = UserFactory()
    for payment in (Payment("7"), Payment("7", "payments"), Payment("8"), None, None):
        credited(user, payment=payment)
    assert (wallet_of(user).balance_inr_minor, CreditReference.objects.count()) == (2500, 3)


def test_payment_is_not_credited_again_after_its_account_is_deleted() -> None:
    user, other = UserFactory(), UserFactory()
    credited(user)
    pay_wallet_payout(wallet_payout=requested_payout(user), reference="T1", actor=other)
    delete_account(user=user, reason="test", actor=None)
    user.refresh_from_db()
    assert refusal(user).code == "already_credited"
    problem = refusal(other)
    assert (problem.code, "an account that is deleted" in problem.message) == ("reference_used", True)


def test_idempotency_key_of_the_credit_form_is_checked_before_its_reference() -> None:
    user, actor, key = UserFactory(), UserFactory(), str(uuid.uuid4())
    credited(user, payment=None)
    first = credited(user, actor=actor, idempotency_key=key)
    assert credited(user, actor=actor, idempotency_key=key) == first
    assert refusal(user, actor=actor, idempotency_key=key, payment=Payment("8")).code == "idempotency_key_reused"
    assert refusal(user, actor=actor, idempotency_key=str(uuid.uuid4())).code == "already_credited"


def test_second_credit_of_a_reference_is_refused_by_the_database() -> None:
    credited(UserFactory())
    other = credited(UserFactory(), payment=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        CreditReference.objects.create(journal=other, source="bank", reference="UTR 7781")
    with pytest.raises(IntegrityError), transaction.atomic():
        CreditReference.objects.create(journal=other, source="bank", reference="")


def test_reference_is_never_changed() -> None:
    credited(UserFactory())
    with pytest.raises(IntegrityError), transaction.atomic():
        CreditReference.objects.update(reference="UTR 8")
    with pytest.raises(IntegrityError), transaction.atomic():
        CreditReference.objects.get().delete()


@pytest.mark.django_db(transaction=True)
def test_concurrent_credits_with_one_reference_are_credited_once() -> None:
    user, others = UserFactory(), [UserFactory() for _ in range(2)]
    outcomes = at_once(*(partial(credited, user) for _ in range(4)))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AlreadyCredited"] * 3 + ["Journal"]
    assert wallet_of(user).balance_inr_minor == 500
    outcomes = at_once(*(partial(credited, other, payment=Payment("8")) for other in others))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Journal", "ReferenceUsed"]
    assert sum(wallet_of(other).balance_inr_minor for other in others) == 500


def test_credit_command_repeated_with_the_same_reference_succeeds_without_a_second_credit() -> None:
    user = UserFactory(email="asha@example.com")
    arguments = ("Asha@Example.com", "499.50", "INR", "--reference", "UTR 7781")
    assert command(*arguments) == "asha@example.com now holds 499.50 INR.\n"
    again = command(*arguments)
    assert again.startswith("Already credited: UTR 7781 (bank) was credited on ")
    assert again.endswith("Nothing was added now.\nasha@example.com now holds 499.50 INR.\n")
    command(*arguments, "--source", "payments")
    assert wallet_of(user).balance_inr_minor == 99_900
    assert {journal.reason for journal in Journal.objects.all()} == {"Invoice 7"}


def test_credit_command_with_a_used_reference_or_a_source_alone_says_what_is_wrong() -> None:
    user = UserFactory(email="asha@example.com")
    credited(user)
    for changed, sentence in (
        (("1.00", "INR", "--reference", "UTR 7781"), "a reference is used for one credit"),
        (("5.00", "INR", "--source", "bank"), "give both"),
    ):
        with pytest.raises(CommandError, match=sentence):
            command("asha@example.com", *changed)
    assert (wallet_of(user).balance_inr_minor, Journal.objects.count()) == (500, 1)


def test_form_credits_a_payment_once_and_pages_show_its_reference() -> None:
    user, actor = UserFactory(), staff("wallet.credit_wallet", "wallet.view_journal")
    client, page = signed_in(actor), "admin:wallet_walletowner_{}".format
    form = {"currency": "INR", "amount": "499.50", "reason": "Invoice 7", "reference": "UTR <7781>", "source": ""}
    credit = reverse(page("credit"), args=[user.pk])
    assert 'value="bank"' in client.get(credit).content.decode()
    for _ in range(2):
        shown = text_of(client.post(credit, form | {"key": str(uuid.uuid4())}, follow=True))
    assert "This payment has been credited already" in shown
    assert "UTR <7781>" in shown
    assert wallet_of(user).balance_inr_minor == 49_950
    credit_entry = AuditEntry.objects.get(action="wallet.credit")
    assert credit_entry.data == {"currency": "INR", "amountMinor": 49_950, "source": "bank", "reference": "UTR <7781>"}
    assert "UTR <7781> (bank)" in text_of(client.get(reverse("admin:wallet_journal_change", args=[Journal.objects.get().pk])))
    assert "Invoice 7" in text_of(client.get(reverse("admin:wallet_journal_changelist") + "?q=7781"))
    assert client.post(credit, form | {"source": "our bank", "reference": "8", "key": str(uuid.uuid4())}).status_code == 400
    assert "reference UTR &lt;7781&gt;" in signed_in(user).get(reverse("wallet-page")).content.decode()
