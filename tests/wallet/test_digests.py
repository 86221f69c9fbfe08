"""Digests: whoever changes, removes, adds or reorders what was covered is found out, and nobody waits for a run."""

from collections.abc import Callable
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from marketplace.core.ids import new_id
from tests.callers import said
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
    return said("digest_ledger", *arguments).splitlines()


def reported(change: Callable[[], object]) -> list[str]:
    """Return the differences after a change past the triggers, and take the change back."""
    with transaction.atomic():
        with unguarded():
            change()
        found = list(digest_differences())
        transaction.set_rollback(True)
    return found


def test_changed_journal_or_transfer_is_reported() -> None:
    sale, *_ = history()[1:]
    journal, first = Journal.objects.filter(pk=sale.pk), sale.transfers.order_by("id")[0]
    transfer, other = Transfer.objects.filter(pk=first.pk), UserFactory()
    elsewhere = LedgerAccount.objects.get(kind="funding", currency=first.currency)
    for change in (
        lambda: transfer.update(amount_minor=1),
        lambda: transfer.update(credit=elsewhere),
        transfer.delete,
        # The triggers do not refuse to add.
        lambda: Transfer.objects.create(journal=sale, debit=elsewhere, credit=first.credit, amount_minor=1, currency="INR"),
        lambda: journal.update(reason="other"),
        lambda: journal.update(request_id="other"),
        lambda: journal.update(actor=other),
        lambda: journal.update(at=timezone.now()),
    ):
        assert reported(change) == [f"journal {sale.pk} is not what digest 1 covered"]


def test_digest_depends_on_the_previous_digest() -> None:
    facts: dict[str, Any] = {"number": 2, "created_at": timezone.now(), "members": [("id", OTHER)]}
    assert chained_digest(previous_digest=OTHER, **facts) != chained_digest(previous_digest="1" * 64, **facts)


def test_changed_owner_of_a_ledger_account_is_reported_with_every_journal_of_it() -> None:
    journals = history()
    wallet = LedgerAccount.objects.filter(kind="wallet", debits__journal=journals[-1])
    found = reported(lambda: wallet.update(owner=UserFactory()))
    assert found == [f"journal {journal.pk} is not what digest 2 covered" for journal in journals[-2:]]


def test_journals_reordered_removed_or_recomputed_under_a_digest_break_it() -> None:
    sale = history()[1]
    first, second = CoveredJournal.objects.filter(ledger_digest=1).order_by("position")[:2]

    def reorder() -> None:
        CoveredJournal.objects.filter(pk=first.pk).update(position=1000)
        CoveredJournal.objects.filter(pk=second.pk).update(position=first.position)

    def recompute() -> None:
        Journal.objects.filter(pk=sale.pk).update(reason="other")
        CoveredJournal.objects.filter(pk=sale.pk).update(digest=journal_digests([sale.pk])[sale.pk])

    for change in (reorder, recompute, lambda: CoveredJournal.objects.filter(pk=first.pk).delete()):
        assert reported(change) == ["digest 1 does not match the journals that it covers"]


def test_run_that_the_database_refuses_although_no_other_run_was_first_fails() -> None:
    credit_wallet(user=UserFactory(), currency="INR", amount_minor=1, reason="test", actor=None)
    ledger_digest()
    credit_wallet(user=UserFactory(), currency="INR", amount_minor=1, reason="test", actor=None)
    with patch.object(digests, "_update_balances", side_effect=IntegrityError), pytest.raises(IntegrityError):
        ledger_digest()


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


@pytest.mark.parametrize("text", ["1", "1:abc", f"0:{OTHER}", f"1:{OTHER}0"])
def test_reconcile_refuses_a_malformed_digest(text: str) -> None:
    with pytest.raises(CommandError, match="NUMBER:DIGEST"):
        call_command("reconcile", f"--digest={text}")


def test_reconcile_refuses_two_different_digests_of_one_number() -> None:
    funded(inr=1)
    ledger_digest()
    first = LedgerDigest.objects.get()
    for given in ([f"1:{OTHER}", f"1:{first.digest}"], [f"1:{first.digest}", f"1:{OTHER}"]):
        with pytest.raises(CommandError, match="different digests"):
            call_command("reconcile", *(f"--digest={text}" for text in given))


def test_digests_are_never_changed() -> None:
    history()
    for table in ("wallet_ledgerdigest", "wallet_coveredjournal"):
        for statement in (f"UPDATE {table} SET digest = ''", f"DELETE FROM {table}"):  # noqa: S608 - constants
            with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)


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
    said("reconcile", "--digest", first[1].removeprefix("Last digest: "))


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
