"""Runs tests of the money code without one safeguard each: every test named here must then fail.

    uv run --group dev python -m tests.wallet.mutants [word …]

Triggers, indexes and constraints are dropped when a test begins; row locks and a transaction, which SQLite hardly needs, are replaced in the
running code. `tests.mutation` changes everything else. It runs on the database of `TEST_DATABASE_URL`, or on a private PostgreSQL.
"""

import contextlib
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from tests import ROOT, command_line
from tests.servers.postgres import postgres

# Names what the tests of a process do without.
WITHOUT = "TEST_WITHOUT_SAFEGUARD"
SECONDS = 900
RACES = "tests/wallet/test_races.py"
LEDGER = "tests/wallet/test_ledger.py"
QUOTES = "tests/wallet/test_quotes.py"
PAYOUTS = "tests/wallet/test_vendor_payouts.py"
DIGESTS = "tests/wallet/test_digests.py"
LEAVING = "tests/wallet/test_wallet_payouts.py"
CREDITS = "tests/wallet/test_credit_references.py"
REFUNDS = "tests/wallet/test_refunds.py"
LICENSEES = "tests/wallet/test_licensees.py"
REQUESTS = "tests/wallet/test_refund_requests.py"
SECOND_APPROVAL = "tests/wallet/test_approvals.py::test_second_approval_of_an_idempotency_key_is_refused_by_the_database"
LOCKS, TRANSACTION = "row locks", "the transaction of a purchase"
# A safeguard, and a test that fails without it.
SAFEGUARDS = (
    (LOCKS, f"{RACES}::test_concurrent_refunds_of_one_order_refund_once"),
    (LOCKS, f"{PAYOUTS}::test_one_of_concurrent_exports_and_one_of_concurrent_settlements_succeeds"),
    (LOCKS, f"{RACES}::test_one_of_concurrent_payout_requests_of_a_wallet_succeeds"),
    (LOCKS, f"{RACES}::test_only_one_of_concurrent_decisions_on_a_wallet_payout_succeeds"),
    (LOCKS, f"{REQUESTS}::test_request_waits_for_a_download_that_is_being_recorded_and_a_download_for_a_refund"),
    (LOCKS, f"{RACES}::test_only_one_of_concurrent_decisions_on_an_approval_succeeds"),
    ("wallet_approval approval_once_for_app_key", SECOND_APPROVAL),
    ("wallet_approval approval_once_for_token_key", SECOND_APPROVAL),
    (TRANSACTION, "tests/wallet/test_faults.py::test_connection_lost_at_any_statement_of_one_transaction_leaves_nothing_half_done"),
    ("wallet_transfer TRIGGER wallet_transfer_append_only", f"{LEDGER}::test_change_of_an_entry_is_refused_by_the_database"),
    ("wallet_journal TRIGGER wallet_journal_append_only", f"{LEDGER}::test_change_of_an_entry_is_refused_by_the_database"),
    (
        "wallet_ledgeraccount TRIGGER wallet_ledgeraccount_identity",
        f"{LEDGER}::test_currency_kind_and_owner_of_a_ledger_account_cannot_be_changed",
    ),
    (
        "wallet_journal TRIGGER wallet_journal_follows",
        f"{LEDGER}::test_balance_changed_without_a_journal_can_be_neither_spent_nor_credited",
    ),
    ("wallet_vendorpayout TRIGGER wallet_vendorpayout_immutable", f"{PAYOUTS}::test_vendor_payout_record_is_never_changed"),
    ("wallet_vendorpayout TRIGGER wallet_vendorpayout_never_deleted", f"{PAYOUTS}::test_vendor_payout_record_is_never_changed"),
    ("wallet_payoutbatch TRIGGER wallet_payoutbatch_immutable", f"{PAYOUTS}::test_vendor_payout_record_is_never_changed"),
    ("wallet_payoutbatch TRIGGER wallet_payoutbatch_never_deleted", f"{PAYOUTS}::test_vendor_payout_record_is_never_changed"),
    ("wallet_payoutbatch INDEX payoutbatch_one_open", f"{PAYOUTS}::test_one_payout_run_at_a_time_is_prepared_in_each_currency"),
    ("wallet_ledgerdigest TRIGGER wallet_ledgerdigest_append_only", f"{DIGESTS}::test_digests_are_never_changed"),
    ("wallet_coveredjournal TRIGGER wallet_coveredjournal_append_only", f"{DIGESTS}::test_digests_are_never_changed"),
    ("wallet_walletpayout TRIGGER wallet_walletpayout_immutable", f"{LEAVING}::test_decided_wallet_payout_is_never_changed_or_deleted"),
    ("wallet_walletpayout TRIGGER wallet_walletpayout_never_deleted", f"{LEAVING}::test_decided_wallet_payout_is_never_changed_or_deleted"),
    ("wallet_creditreference TRIGGER wallet_creditreference_append_only", f"{CREDITS}::test_reference_is_never_changed"),
    ("wallet_walletpayout INDEX walletpayout_one_open", f"{LEAVING}::test_second_open_payout_of_a_wallet_is_refused_by_the_database"),
    ("library_licence INDEX licence_one_unrevoked", f"{LEDGER}::test_second_live_licence_is_refused_by_the_database"),
    ("library_licence INDEX licence_one_for_licensee", f"{LICENSEES}::test_second_live_licence_of_a_licensee_is_refused_by_the_database"),
    ("library_licence licence_has_licensee", f"{LICENSEES}::test_licence_without_a_holder_is_refused_by_the_database"),
    (LOCKS, f"{RACES}::test_one_of_concurrent_claims_of_a_licence_succeeds"),
    ("library_licence INDEX licence_one_upgrade", "tests/wallet/test_upgrades.py::test_database_refuses_two_upgrades_of_one_licence"),
    (
        "catalog_discount TRIGGER catalog_discount_alone_insert",
        "tests/vendors/test_discounts.py::test_database_refuses_two_discounts_at_the_same_time",
    ),
    ("wallet_creditreference creditreference_once", f"{CREDITS}::test_second_credit_of_a_reference_is_refused_by_the_database"),
    ("wallet_journal journal_once_for_order", f"{REFUNDS}::test_second_payment_of_an_unclaimed_refund_is_refused_by_the_database"),
    ("wallet_ledgeraccount ledgeraccount_no_overdraft", f"{LEDGER}::test_overdraft_is_refused_by_the_database"),
    ("wallet_transfer transfer_positive", f"{LEDGER}::test_transfer_of_zero_is_refused"),
    ("wallet_transfer transfer_between_different_accounts", f"{LEDGER}::test_transfer_to_itself_is_refused"),
    ("wallet_transfer transfer_credit_in_currency", f"{LEDGER}::test_transfer_between_currencies_is_refused"),
    ("wallet_transfer transfer_debit_in_currency", f"{LEDGER}::test_transfer_between_currencies_is_refused"),
    ("wallet_journal journal_wallet_matches_kind", f"{LEDGER}::test_journal_without_the_columns_of_its_kind_is_refused_by_the_database"),
    ("wallet_journal journal_vendor_matches_kind", f"{LEDGER}::test_journal_without_the_columns_of_its_kind_is_refused_by_the_database"),
    ("wallet_vendorpayout vendorpayout_once_in_batch", f"{PAYOUTS}::test_second_payout_of_a_run_is_refused_by_the_database"),
    ("wallet_order order_parts_make_price", f"{LEDGER}::test_order_whose_tax_and_shares_differ_from_its_price_is_refused_by_the_database"),
    ("wallet_refundrequest wallet_refundrequest_order_id_key", f"{REQUESTS}::test_purchase_has_one_refund_request_even_after_a_refusal"),
    ("wallet_order order_quote_once", f"{QUOTES}::test_second_order_of_a_quote_is_refused_by_the_database"),
)


def drop(safeguard: str) -> None:
    """Drop a trigger, an index or, where no kind is named, a constraint of a table."""
    table, *kind, name = safeguard.split()
    statements = {"TRIGGER": f"DROP TRIGGER {name} ON {table}", "INDEX": f"DROP INDEX {name}"}
    with connection.cursor() as cursor:
        cursor.execute(statements[kind[0]] if kind else f"ALTER TABLE {table} DROP CONSTRAINT {name}")


@pytest.fixture(autouse=True)
def _without_safeguard(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    safeguard = os.environ.get(WITHOUT, "")
    if safeguard == LOCKS:
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_options: rows)
    elif safeguard == TRANSACTION:
        monkeypatch.setattr("wallet.services.spending.transaction", SimpleNamespace(atomic=contextlib.nullcontext))
    elif safeguard:
        # None of these tests commits: what is dropped comes back.
        request.getfixturevalue("db")
        drop(safeguard)


def fails(safeguard: str, *tests: str, **env: Any) -> bool:
    """Tell whether tests fail without a safeguard, or without any missing."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "tests.wallet.mutants", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | env | {WITHOUT: safeguard}, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    # 1: a test failed, perhaps by the reconciliation after it. Anything else proves nothing.
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    return done.returncode == 1


def main() -> int:
    """Run them; return 0 when each test passes with all safeguards and fails without its own."""
    parser = command_line("tests.wallet.mutants", __doc__)
    parser.add_argument("words", nargs="*", help="run only safeguards whose name contains one of these words")
    words = parser.parse_args().words
    chosen = [(name, test) for name, test in SAFEGUARDS if not words or any(word in name for word in words)]
    with contextlib.ExitStack() as servers:
        env = {} if "TEST_DATABASE_URL" in os.environ else {"TEST_DATABASE_URL": servers.enter_context(postgres())}
        if fails("", *dict.fromkeys(test for _, test in chosen), **env):
            sys.exit("The tests fail with every safeguard in place.")
        missed = [f"{test} passes without {name}" for name, test in chosen if not fails(name, test, **env)]
    sys.stdout.write("\n".join([*missed, f"{len(chosen) - len(missed)} of {len(chosen)} are missed by their test.\n"]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
