"""Seals: whoever changes, removes, adds or reorders what was sealed is found out, and nobody waits for a sealer."""

from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from marketplace.core.ids import new_id
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import Journal, LedgerAccount, LedgerSeal, SealedJournal, Transfer
from wallet.reconciliation import differences
from wallet.seals import journal_digests, seal_differences, seal_digest
from wallet.services import sealing
from wallet.services.funding import credit_wallet
from wallet.services.refunds import refund_order

from .racing import outcomes_at_once
from .tampering import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.database]
OTHER = "0" * 64


def seal() -> list[LedgerSeal]:
    """Seal everything that is there."""
    return list(sealing.seal_ledger(until=timezone.now()))


def history() -> list[Journal]:
    """Make a purchase and a refund under the first seal, a purchase under the second; return the journals in order."""
    refund_order(order=bought(on_sale(tax_rate_bp=1800)), reason="test", actor=None)
    seal()
    bought(on_sale(tax_rate_bp=1800))
    seal()
    assert list(differences()) == []
    return list(Journal.objects.order_by("id"))


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("seal_ledger", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("field", ["amount_minor", "credit"])
def test_transfer_that_was_changed_names_its_journal(field: str) -> None:
    sale = history()[1]
    transfer = sale.transfers.order_by("id")[0]
    elsewhere = LedgerAccount.objects.get(kind="funding", currency=transfer.currency)
    with unguarded():
        Transfer.objects.filter(pk=transfer.pk).update(**{field: 1 if field == "amount_minor" else elsewhere})
    assert list(seal_differences()) == [f"journal {sale.pk} is not what seal 1 sealed"]


@pytest.mark.parametrize(
    "change",
    [{"reason": "other"}, {"request_id": "other"}, {"actor": None}, {"at": timezone.now()}],
    ids=["reason", "request", "actor", "time"],
)
def test_journal_that_was_changed_is_named(change: dict[str, object]) -> None:
    sale = history()[1]
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(**change)
    assert list(seal_differences()) == [f"journal {sale.pk} is not what seal 1 sealed"]


def test_digest_holds_the_one_before() -> None:
    now = timezone.now()
    facts: dict[str, Any] = {"number": 2, "sealed_at": now, "members": [("id", OTHER)]}
    assert seal_digest(previous_digest=OTHER, **facts) != seal_digest(previous_digest="1" * 64, **facts)


def test_transfer_that_was_removed_or_slipped_in_names_its_journal() -> None:
    journals = history()
    gone = journals[1].transfers.order_by("id")[0]
    with unguarded():
        gone.delete()
    assert list(seal_differences()) == [f"journal {journals[1].pk} is not what seal 1 sealed"]
    # The guards do not refuse to add.
    accounts = LedgerAccount.objects.filter(currency="INR").exclude(kind="wallet")[:2]
    Transfer.objects.create(journal=journals[-1], debit=accounts[0], credit=accounts[1], amount_minor=1, currency="INR")
    assert list(seal_differences())[1:] == [f"journal {journals[-1].pk} is not what seal 2 sealed"]


def test_account_that_became_someone_elses_names_every_journal_that_touches_it() -> None:
    journals = history()
    with unguarded():
        LedgerAccount.objects.filter(kind="wallet", debits__journal=journals[-1]).update(owner=UserFactory())
    found = list(seal_differences())
    assert found == [f"journal {journal.pk} is not what seal 2 sealed" for journal in journals[-2:]]


def test_journals_that_changed_places_break_their_seal() -> None:
    history()
    first, second = SealedJournal.objects.filter(seal=1).order_by("position")[:2]
    with unguarded():
        SealedJournal.objects.filter(pk=first.pk).update(position=1000)
        SealedJournal.objects.filter(pk=second.pk).update(position=first.position)
    assert list(seal_differences()) == ["seal 1 does not fit what is under it"]


def test_journal_that_was_taken_from_under_its_seal_breaks_it() -> None:
    history()
    with unguarded():
        SealedJournal.objects.filter(seal=2, position=0).delete()
    assert list(seal_differences()) == ["seal 2 does not fit what is under it"]


def test_journal_that_is_gone_is_named() -> None:
    alone = credit_wallet(user=UserFactory(), currency="INR", amount_minor=1, reason="test", actor=None)
    seal()
    lost = alone.pk
    with unguarded(), connection.constraint_checks_disabled():
        Transfer.objects.all().delete()
        Journal.objects.filter(pk=lost)._raw_delete("default")
        assert f"journal {lost} is under seal 1 and is gone" in list(seal_differences())
        # The foreign keys are looked at in the end.
        SealedJournal.objects.all()._raw_delete("default")
        connection.check_constraints()


def test_digest_that_was_made_to_fit_breaks_the_seal() -> None:
    sale = history()[1]
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(reason="other")
        from_now_on = journal_digests([sale.pk])[sale.pk]
        SealedJournal.objects.filter(pk=sale.pk).update(digest=from_now_on)
    assert list(seal_differences()) == ["seal 1 does not fit what is under it"]


def test_seal_that_was_made_anew_breaks_the_chain_and_differs_from_what_was_kept() -> None:
    history()
    kept = dict(LedgerSeal.objects.values_list("number", "digest"))
    with unguarded():
        LedgerSeal.objects.filter(number=1).update(digest=OTHER)
    assert list(seal_differences(kept)) == [
        "seal 1 does not fit what is under it",
        "seal 1 is not the one that was kept elsewhere",
        "seal 2 does not follow seal 1",
    ]


def test_whole_chain_that_was_made_anew_is_told_by_the_digest_that_was_kept() -> None:
    sale = history()[1]
    last = LedgerSeal.objects.last()
    assert last is not None
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(reason="other")
        SealedJournal.objects.all().delete()
        LedgerSeal.objects.all().delete()
        LedgerAccount.objects.exclude(kind="wallet").update(balance_minor=0)
    seal()
    assert list(differences()) == []
    assert list(differences(seals={last.number: last.digest})) == ["seal 2 was kept elsewhere and is gone"]
    out = StringIO()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("reconcile", "--seal", f"{last.number}:{last.digest}", stdout=out)
    assert "seal 2 was kept elsewhere and is gone" in out.getvalue()


@pytest.mark.parametrize("text", ["", "1", "1:abc", f"0:{OTHER}", f"-1:{OTHER}", f"1:{OTHER}0", f"x:{OTHER}"])
def test_reconcile_refuses_what_is_no_seal(text: str) -> None:
    with pytest.raises(CommandError, match="NUMBER:DIGEST"):
        call_command("reconcile", f"--seal={text}")


@pytest.mark.parametrize("table", ["wallet_ledgerseal", "wallet_sealedjournal"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET digest = ''", "DELETE FROM {}"])
def test_seals_are_never_changed(table: str, statement: str) -> None:
    history()
    with pytest.raises(IntegrityError, match="only grows"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table))


def test_what_is_young_waits_and_what_is_old_is_sealed_once() -> None:
    funded(inr=1)
    assert run() == ["Sealed 0 journals with 0 new seals."]
    assert list(differences()) == []
    later = timezone.now() + sealing.GRACE
    with patch("django.utils.timezone.now", lambda: later):
        first = run()
        again = run()
    head = LedgerSeal.objects.get()
    assert first == ["Sealed 1 journals with 1 new seals.", f"Last seal: 1:{head.digest}"]
    assert again == ["Sealed 0 journals with 0 new seals.", first[1]]
    call_command("reconcile", "--seal", first[1].removeprefix("Last seal: "), stdout=StringIO())


def test_what_commits_late_is_sealed_later() -> None:
    early = new_id()
    funded(inr=1)
    seal()
    user = UserFactory()
    with patch("wallet.services.ledger.new_id", lambda: early):
        credit_wallet(user=user, currency="INR", amount_minor=1, reason="late", actor=None)
    assert Journal.objects.order_by("id")[0].pk == early
    (second,) = seal()
    assert [member.journal_id for member in second.members.all()] == [early]
    assert list(differences()) == []


def test_batches_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "BATCH", 2)
    for _ in range(5):
        funded(inr=1)
    assert [one.journals for one in seal()] == [2, 2, 1]
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_sealers_at_once_make_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "BATCH", 2)
    for _ in range(9):
        funded(inr=1)
    outcomes = outcomes_at_once(*([seal] * 4))
    assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    assert SealedJournal.objects.count() == Journal.objects.count() == 9
    assert list(differences()) == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_sealer_whose_batch_another_sealed_meanwhile_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    funded(inr=1)
    quicker = [seal]

    def slowly(journal_ids: list[object]) -> dict[object, str]:
        if quicker:
            outcomes_at_once(quicker.pop())
        return journal_digests(journal_ids)

    monkeypatch.setattr(sealing, "journal_digests", slowly)
    assert seal() == []
    assert LedgerSeal.objects.count() == SealedJournal.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_seal_that_cannot_be_written_is_an_error_and_leaves_nothing() -> None:
    funded(inr=1)
    with patch.object(SealedJournal.objects, "bulk_create", side_effect=IntegrityError), pytest.raises(IntegrityError):
        seal()
    assert not LedgerSeal.objects.exists()
