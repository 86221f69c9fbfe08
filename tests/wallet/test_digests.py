"""Digests: whoever changes, removes, adds or reorders what was covered is found out, and nobody waits for a run."""

from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from marketplace.core.ids import new_id
from tests.factories import UserFactory
from tests.races import outcomes_at_once
from tests.shop import bought, funded, on_sale
from wallet.digests import chained_digest, digest_differences, journal_digests
from wallet.models import CoveredJournal, Journal, LedgerAccount, LedgerDigest, Transfer
from wallet.reconciliation import differences
from wallet.services import digests
from wallet.services.funding import credit_wallet
from wallet.services.refunds import refund_order

from .tampering import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.database]
OTHER = "0" * 64


def ledger_digest() -> list[LedgerDigest]:
    """Cover everything that is there."""
    return list(digests.digest_ledger(until=timezone.now()))


def history() -> list[Journal]:
    """Make a purchase and a refund under the first digest, a purchase under the second; return the journals in order."""
    refund_order(order=bought(on_sale(tax_rate_bp=1800)), reason="test", actor=None)
    ledger_digest()
    bought(on_sale(tax_rate_bp=1800))
    ledger_digest()
    assert list(differences()) == []
    return list(Journal.objects.order_by("id"))


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("digest_ledger", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("field", ["amount_minor", "credit"])
def test_changed_transfer_is_reported_with_its_journal(field: str) -> None:
    sale = history()[1]
    transfer = sale.transfers.order_by("id")[0]
    elsewhere = LedgerAccount.objects.get(kind="funding", currency=transfer.currency)
    with unguarded():
        Transfer.objects.filter(pk=transfer.pk).update(**{field: 1 if field == "amount_minor" else elsewhere})
    assert list(digest_differences()) == [f"journal {sale.pk} is not what digest 1 covered"]


@pytest.mark.parametrize(
    "change",
    [{"reason": "other"}, {"request_id": "other"}, {"actor": None}, {"at": timezone.now()}],
    ids=["reason", "request", "actor", "time"],
)
def test_journal_that_was_changed_is_named(change: dict[str, object]) -> None:
    sale = history()[1]
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(**change)
    assert list(digest_differences()) == [f"journal {sale.pk} is not what digest 1 covered"]


def test_digest_depends_on_the_previous_digest() -> None:
    now = timezone.now()
    facts: dict[str, Any] = {"number": 2, "created_at": now, "members": [("id", OTHER)]}
    assert chained_digest(previous_digest=OTHER, **facts) != chained_digest(previous_digest="1" * 64, **facts)


def test_removed_or_added_transfer_is_reported_with_its_journal() -> None:
    journals = history()
    gone = journals[1].transfers.order_by("id")[0]
    with unguarded():
        gone.delete()
    assert list(digest_differences()) == [f"journal {journals[1].pk} is not what digest 1 covered"]
    # The triggers do not refuse to add.
    accounts = LedgerAccount.objects.filter(currency="INR").exclude(kind="wallet")[:2]
    Transfer.objects.create(journal=journals[-1], debit=accounts[0], credit=accounts[1], amount_minor=1, currency="INR")
    assert list(digest_differences())[1:] == [f"journal {journals[-1].pk} is not what digest 2 covered"]


def test_changed_owner_of_a_ledger_account_is_reported_with_every_journal_of_it() -> None:
    journals = history()
    with unguarded():
        LedgerAccount.objects.filter(kind="wallet", debits__journal=journals[-1]).update(owner=UserFactory())
    found = list(digest_differences())
    assert found == [f"journal {journal.pk} is not what digest 2 covered" for journal in journals[-2:]]


def test_changed_order_of_journals_breaks_their_digest() -> None:
    history()
    first, second = CoveredJournal.objects.filter(ledger_digest=1).order_by("position")[:2]
    with unguarded():
        CoveredJournal.objects.filter(pk=first.pk).update(position=1000)
        CoveredJournal.objects.filter(pk=second.pk).update(position=first.position)
    assert list(digest_differences()) == ["digest 1 does not match the journals that it covers"]


def test_journal_removed_from_the_rows_of_a_digest_breaks_the_digest() -> None:
    history()
    with unguarded():
        CoveredJournal.objects.filter(ledger_digest=2, position=0).delete()
    assert list(digest_differences()) == ["digest 2 does not match the journals that it covers"]


def test_deleted_journal_is_reported() -> None:
    alone = credit_wallet(user=UserFactory(), currency="INR", amount_minor=1, reason="test", actor=None)
    ledger_digest()
    lost = alone.pk
    with unguarded(), connection.constraint_checks_disabled():
        Transfer.objects.all().delete()
        Journal.objects.filter(pk=lost)._raw_delete("default")
        assert f"digest 1 covers journal {lost}, which no longer exists" in list(digest_differences())
        # The foreign keys are looked at in the end.
        CoveredJournal.objects.all()._raw_delete("default")
        connection.check_constraints()


def test_changed_journal_whose_own_digest_was_recomputed_breaks_the_digest_of_its_batch() -> None:
    sale = history()[1]
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(reason="other")
        from_now_on = journal_digests([sale.pk])[sale.pk]
        CoveredJournal.objects.filter(pk=sale.pk).update(digest=from_now_on)
    assert list(digest_differences()) == ["digest 1 does not match the journals that it covers"]


def test_recomputed_digest_breaks_the_chain_and_differs_from_the_one_kept_elsewhere() -> None:
    history()
    kept = dict(LedgerDigest.objects.values_list("number", "digest"))
    with unguarded():
        LedgerDigest.objects.filter(number=1).update(digest=OTHER)
    assert list(digest_differences(kept)) == [
        "digest 1 does not match the journals that it covers",
        "digest 1 is not the one that was kept elsewhere",
        "digest 2 does not follow digest 1",
    ]


def test_recomputed_chain_is_detected_by_a_digest_kept_elsewhere() -> None:
    sale = history()[1]
    last = LedgerDigest.objects.last()
    assert last is not None
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(reason="other")
        CoveredJournal.objects.all().delete()
        LedgerDigest.objects.all().delete()
        LedgerAccount.objects.exclude(kind="wallet").update(balance_minor=0)
    ledger_digest()
    assert list(differences()) == []
    assert list(differences(ledger_digests={last.number: last.digest})) == ["digest 2 was kept elsewhere and is gone"]
    out = StringIO()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("reconcile", "--digest", f"{last.number}:{last.digest}", stdout=out)
    assert "digest 2 was kept elsewhere and is gone" in out.getvalue()


@pytest.mark.parametrize("text", ["", "1", "1:abc", f"0:{OTHER}", f"-1:{OTHER}", f"1:{OTHER}0", f"x:{OTHER}"])
def test_reconcile_refuses_a_malformed_digest(text: str) -> None:
    with pytest.raises(CommandError, match="NUMBER:DIGEST"):
        call_command("reconcile", f"--digest={text}")


@pytest.mark.parametrize("table", ["wallet_ledgerdigest", "wallet_coveredjournal"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET digest = ''", "DELETE FROM {}"])
def test_digests_are_never_changed(table: str, statement: str) -> None:
    history()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(table))


def test_journals_younger_than_the_grace_period_wait_and_older_ones_are_covered_once() -> None:
    funded(inr=1)
    assert run() == ["Covered 0 journals with 0 new digests."]
    assert list(differences()) == []
    later = timezone.now() + digests.GRACE
    with patch("django.utils.timezone.now", lambda: later):
        first = run()
        again = run()
    head = LedgerDigest.objects.get()
    assert first == ["Covered 1 journals with 1 new digests.", f"Last digest: 1:{head.digest}"]
    assert again == ["Covered 0 journals with 0 new digests.", first[1]]
    call_command("reconcile", "--digest", first[1].removeprefix("Last digest: "), stdout=StringIO())


def test_journal_that_commits_late_is_covered_by_the_next_digest() -> None:
    early = new_id()
    funded(inr=1)
    ledger_digest()
    user = UserFactory()
    with patch("wallet.services.ledger.new_id", lambda: early):
        credit_wallet(user=user, currency="INR", amount_minor=1, reason="late", actor=None)
    assert Journal.objects.order_by("id")[0].pk == early
    (second,) = ledger_digest()
    assert [member.journal_id for member in second.members.all()] == [early]
    assert list(differences()) == []


def test_digests_cover_many_journals_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "BATCH", 2)
    for _ in range(5):
        funded(inr=1)
    assert [one.journals for one in ledger_digest()] == [2, 2, 1]
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_digest_runs_make_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "BATCH", 2)
    for _ in range(9):
        funded(inr=1)
    outcomes = outcomes_at_once(*([ledger_digest] * 4))
    assert all(isinstance(outcome, list) for outcome in outcomes), outcomes
    assert CoveredJournal.objects.count() == Journal.objects.count() == 9
    assert list(differences()) == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_digest_run_skips_journals_that_another_run_covered_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    funded(inr=1)
    quicker = [ledger_digest]

    def slowly(journal_ids: list[object]) -> dict[object, str]:
        if quicker:
            outcomes_at_once(quicker.pop())
        return journal_digests(journal_ids)

    monkeypatch.setattr(digests, "journal_digests", slowly)
    assert ledger_digest() == []
    assert LedgerDigest.objects.count() == CoveredJournal.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_digest_that_cannot_be_written_is_an_error_and_leaves_nothing() -> None:
    funded(inr=1)
    with patch.object(CoveredJournal.objects, "bulk_create", side_effect=IntegrityError), pytest.raises(IntegrityError):
        ledger_digest()
    assert not LedgerDigest.objects.exists()
