"""The safeguards of the database, each taken out once: triggers, constraints and indexes."""

from .safeguards import Mutant

_LAST_LINE = "ALL_SCOPES = frozenset(Scope)\n"


def dropped(what: str, tests: str) -> Mutant:
    """Return the mutant of the database that lacks a trigger, index or constraint in each of the tests; none of them commits."""
    return without(what, f"DROP {what}", tests)


def unbound(table: str, constraint: str, tests: str) -> Mutant:
    """Return the mutant of the database that lacks a constraint."""
    return without(f"CONSTRAINT {constraint}", f"ALTER TABLE {table} DROP CONSTRAINT {constraint}", tests)


def without(what: str, statement: str, tests: str) -> Mutant:
    """Return the mutant in which each test begins with this statement."""
    fixture = f"""

@pytest.fixture(autouse=True)
def _mutated(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute({statement!r})
"""
    return Mutant(f"database without {what}", "tests/conftest.py", _LAST_LINE, _LAST_LINE + fixture, tests)


LEDGER = "tests/wallet/test_ledger.py"
QUOTES = "tests/wallet/test_quotes.py"
PAYOUTS = "tests/wallet/test_vendor_payouts.py"
DIGESTS = "tests/wallet/test_digests.py"
LEAVING = "tests/wallet/test_wallet_payouts.py"
CREDITS = "tests/wallet/test_credit_references.py"
REFUNDS = "tests/wallet/test_refunds.py"
OF_THE_DATABASE = (
    dropped("TRIGGER wallet_transfer_append_only ON wallet_transfer", f"{LEDGER}::test_change_of_an_entry_is_refused_by_the_database"),
    dropped("TRIGGER wallet_journal_append_only ON wallet_journal", f"{LEDGER}::test_change_of_an_entry_is_refused_by_the_database"),
    dropped("TRIGGER wallet_ledgeraccount_identity ON wallet_ledgeraccount", f"{LEDGER}::test_account_never_becomes_someone_elses"),
    dropped(
        "TRIGGER wallet_journal_follows ON wallet_journal", f"{LEDGER}::test_balance_that_no_journal_made_is_neither_spent_nor_added_to"
    ),
    dropped("TRIGGER wallet_vendorpayout_append_only ON wallet_vendorpayout", f"{PAYOUTS}::test_record_of_a_payout_is_never_changed"),
    dropped("TRIGGER wallet_ledgerdigest_append_only ON wallet_ledgerdigest", f"{DIGESTS}::test_digests_are_never_changed"),
    dropped("TRIGGER wallet_coveredjournal_append_only ON wallet_coveredjournal", f"{DIGESTS}::test_digests_are_never_changed"),
    dropped("TRIGGER wallet_walletpayout_kept ON wallet_walletpayout", f"{LEAVING}::test_what_came_of_a_payout_is_never_changed"),
    dropped("TRIGGER wallet_walletpayout_never_deleted ON wallet_walletpayout", f"{LEAVING}::test_what_came_of_a_payout_is_never_changed"),
    dropped("TRIGGER wallet_creditreference_append_only ON wallet_creditreference", f"{CREDITS}::test_reference_is_never_changed"),
    unbound("wallet_creditreference", "creditreference_once", f"{CREDITS}::test_second_credit_of_a_reference_is_refused_by_the_database"),
    dropped("INDEX walletpayout_one_open", f"{LEAVING}::test_second_open_payout_of_a_wallet_is_refused_by_the_database"),
    unbound(
        "wallet_journal", "journal_once_for_order", f"{REFUNDS}::test_second_payment_of_an_unclaimed_refund_is_refused_by_the_database"
    ),
    unbound("wallet_ledgeraccount", "ledgeraccount_no_overdraft", f"{LEDGER}::test_overdraft_is_refused_by_the_database"),
    unbound("wallet_transfer", "transfer_positive", f"{LEDGER}::test_transfer_of_nothing_is_refused"),
    unbound("wallet_transfer", "transfer_two_accounts", f"{LEDGER}::test_transfer_to_itself_is_refused"),
    unbound("wallet_transfer", "transfer_credit_in_currency", f"{LEDGER}::test_transfer_between_currencies_is_refused"),
    unbound("wallet_transfer", "transfer_debit_in_currency", f"{LEDGER}::test_transfer_between_currencies_is_refused"),
    unbound("wallet_journal", "journal_wallet_fits_kind", f"{LEDGER}::test_journal_that_does_not_say_what_it_means_is_refused"),
    unbound("wallet_journal", "journal_vendor_fits_kind", f"{LEDGER}::test_journal_that_does_not_say_what_it_means_is_refused"),
    unbound("wallet_vendorpayout", "vendorpayout_once_in_run", f"{PAYOUTS}::test_second_payout_of_a_run_is_refused_by_the_database"),
    unbound("wallet_order", "order_parts_make_price", f"{LEDGER}::test_order_whose_parts_are_not_its_price_is_refused"),
    unbound("wallet_order", "order_quote_once", f"{QUOTES}::test_second_order_of_a_quote_is_refused_by_the_database"),
    dropped("INDEX licence_one_live", f"{LEDGER}::test_second_live_licence_is_refused_by_the_database"),
)
