"""The triggers that protect the ledger in the database (see `marketplace.core.triggers`)."""

from collections.abc import Iterator
from typing import NamedTuple

from marketplace.core.triggers import Trigger, TriggerSet, refusal_sql

ACCOUNTS = "wallet_ledgeraccount"
ACCOUNT_FIXED = ("kind", "owner_id", "currency", "may_go_negative")
WALLET_PAYOUTS, VENDOR_PAYOUTS, BATCHES = "wallet_walletpayout", "wallet_vendorpayout", "wallet_payoutbatch"
TOP_UPS, EVENTS, REVERSALS, REVERSAL_PARTS = ("wallet_topup", "wallet_providerevent", "wallet_cardreversal", "wallet_reversalpart")
# Columns of billing details that never change: all but `current`, since a change adds a row. Rows that nothing refers to can be deleted.
BILLING_DETAILS = "wallet_billingdetails"
BILLING_FIXED = (
    "id",
    "owner_id",
    "name",
    "street",
    "postal_code",
    "city",
    "region",
    "country",
    "tax_id",
    "connection_country",
    "logo_id",
    "created_at",
)


class Record(NamedTuple):
    """The columns of a row that never change, the condition under which it is final, and the columns that do not change then."""

    fixed: tuple[str, ...]
    final: str
    fixed_when_final: tuple[str, ...]


RECORDS = {
    WALLET_PAYOUTS: Record(
        ("id", "wallet_id", "hold_id", "requested_at"),
        "OLD.status <> 'Waiting'",
        ("status", "closing_journal_id", "reference", "reason"),
    ),
    VENDOR_PAYOUTS: Record(
        ("id", "batch_id", "account_id", "journal_id", "details_id"),
        "OLD.status IN ('Bounced', 'Cancelled')",
        ("status", "return_journal_id", "reason", "settled_at"),
    ),
    BATCHES: Record(
        ("id", "run", "currency", "transfer_currency", "rate", "created_at"),
        "OLD.status <> 'Prepared'",
        ("status", "exported_at", "exported_by_id"),
    ),
    TOP_UPS: Record(
        ("id", "user_id", "currency", "amount_minor", "provider", "created_at"),
        "OLD.journal_id IS NOT NULL",
        ("journal_id", "paid_at", "payment_reference"),
    ),
    EVENTS: Record(
        ("id", "provider", "event_id", "kind", "payment_reference", "reversal_reference", "amount_minor", "currency", "occurred_at"),
        "OLD.processed_at IS NOT NULL",
        ("processed_at", "outcome", "top_up_id"),
    ),
    REVERSALS: Record(
        ("id", "top_up_id", "kind", "amount_minor", "freeze_journal_id", "opened_at"),
        "OLD.status <> 'Open'",
        ("status", "closing_journal_id", "decided_at", "reference"),
    ),
    REVERSAL_PARTS: Record(
        ("id", "reversal_id", "order_id", "reversed_minor"),
        "(OLD.release_journal_id IS NOT NULL OR OLD.taken_minor <> 0)",
        ("release_journal_id", "taken_minor", "ended"),
    ),
}
# The only columns that change, by table.
CHANGEABLE = {
    WALLET_PAYOUTS: (*RECORDS[WALLET_PAYOUTS].fixed_when_final, "payment_details", "claimed_by_id", "claimed_at"),
    VENDOR_PAYOUTS: RECORDS[VENDOR_PAYOUTS].fixed_when_final,
    BATCHES: RECORDS[BATCHES].fixed_when_final,
}
_MESSAGE = "the ledger is append-only"


def _changed(vendor: str, *columns: str) -> str:
    """Return the condition that one of the columns changes."""
    differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
    return " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in columns)


def _row(vendor: str, name: str, table: str, event: str, condition: str, message: str) -> Trigger:
    """Return the trigger that refuses an update or a deletion of a row where the condition holds."""
    row = "FOR EACH ROW " if vendor == "postgresql" else ""
    return Trigger(f"{table}_{name}", table, f"BEFORE {event}", f"{row}WHEN ({condition}) {refusal_sql(vendor, 'wallet', message)}")


def _records(vendor: str) -> Iterator[Trigger]:
    """Yield the triggers that protect payouts, top-ups, providers' events and reversals."""
    message = "records of payments, payouts and events cannot be changed"
    event, statement = ("DELETE OR TRUNCATE", "FOR EACH STATEMENT ") if vendor == "postgresql" else ("DELETE", "")
    further = {
        # Bank details can only be erased.
        WALLET_PAYOUTS: f" OR ({_changed(vendor, 'payment_details')} AND NEW.payment_details <> '')",
        # A dispute suspends a purchase at most once, when it is opened or later.
        REVERSAL_PARTS: f" OR (OLD.suspended AND ({_changed(vendor, 'suspended', 'withheld_minor', 'withholding_journal_id')}))",
    }
    for table, (fixed, final, fixed_when_final) in RECORDS.items():
        refused_if = f"{_changed(vendor, *fixed)} OR ({final} AND ({_changed(vendor, *fixed_when_final)})){further.get(table, '')}"
        yield _row(vendor, "immutable", table, "UPDATE", refused_if, message)
        if table != EVENTS:
            yield Trigger(f"{table}_never_deleted", table, f"BEFORE {event}", f"{statement}{refusal_sql(vendor, 'wallet', message)}")
    # An event that belongs to none of our payments can be deleted.
    yield _row(vendor, "never_deleted", EVENTS, "DELETE", "OLD.top_up_id IS NOT NULL", "events of a provider cannot be changed")


def _in_currency(side: str) -> Trigger:
    """Return the trigger that requires a transfer's currency to be its accounts'; on PostgreSQL a composite foreign key does."""
    other_currency = f"(SELECT currency FROM {ACCOUNTS} WHERE id = NEW.{side}_id) IS NOT NEW.currency"  # noqa: S608 - two constants
    body = f"WHEN {other_currency} {refusal_sql('sqlite', 'wallet', 'the account is in another currency')}"
    return Trigger(f"wallet_transfer_{side}_in_currency", "wallet_transfer", "BEFORE INSERT", body)


# The account was updated before, in the same transaction. Its balance and number of entries are those of the journal, and
# its previous balance is that of the previous entry: a balance that was changed without a journal cannot be used.
_CHAINED = f"""
SELECT 1 FROM {ACCOUNTS} account
  LEFT JOIN wallet_journal before ON before.wallet_id = account.id AND before.wallet_entry = NEW.wallet_entry - 1
 WHERE account.id = NEW.wallet_id AND account.kind = 'wallet'
   AND account.entries = NEW.wallet_entry AND account.balance_minor = NEW.wallet_balance_minor
   AND NEW.wallet_balance_minor - NEW.wallet_net_minor = COALESCE(before.wallet_balance_minor, 0)
   AND (before.id IS NOT NULL OR NEW.wallet_entry = 1)
"""  # noqa: S608 - our own names
_CHAIN_FUNCTION, _NUMBER_FUNCTION = "wallet_check_chain", "wallet_check_number"
_UNCHAINED = "the entry does not follow the wallet''s last"
# The number of an invoice follows the seller's last in the fiscal year: there is no gap.
_NUMBERED = """
SELECT 1 FROM wallet_invoice before
 WHERE before.seller_id = NEW.seller_id AND before.fiscal_year = NEW.fiscal_year AND before.sequence = NEW.sequence - 1
"""
_GAP = "the number does not follow the seller''s last"


def _function(name: str, query: str, message: str) -> str:
    """Return the function of PostgreSQL that refuses a new row for which a query finds nothing."""
    return f"""
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF NOT EXISTS ({query}) THEN
        RAISE EXCEPTION 'refused: {message}' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END
$body$
"""


def _follows(vendor: str, table: str, condition: str, function: str, query: str, message: str) -> Trigger:
    """Return the trigger that refuses a new row, where the condition holds, for which a query finds nothing."""
    if vendor == "postgresql":
        body = f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {function}()"
    else:
        body = f"WHEN {condition} AND NOT EXISTS ({query}) {refusal_sql('sqlite', 'wallet', message)}"
    return Trigger(f"{table}_follows", table, "BEFORE INSERT", body)


def _triggers(vendor: str) -> list[Trigger]:
    """Return the triggers that both databases have."""
    return [
        _row(vendor, "identity", ACCOUNTS, "UPDATE", _changed(vendor, *ACCOUNT_FIXED), _MESSAGE),
        _follows(vendor, "wallet_journal", "NEW.wallet_id IS NOT NULL", _CHAIN_FUNCTION, _CHAINED, _UNCHAINED),
        *_records(vendor),
        _row(vendor, "immutable", BILLING_DETAILS, "UPDATE", _changed(vendor, *BILLING_FIXED), "billing details cannot be changed"),
        _follows(vendor, "wallet_invoice", "NEW.sequence <> 1", _NUMBER_FUNCTION, _NUMBERED, _GAP),
    ]


LEDGER_TRIGGERS = TriggerSet(
    app="wallet",
    message=_MESSAGE,
    append_only=(
        "wallet_journal",
        "wallet_transfer",
        "wallet_ledgerdigest",
        "wallet_coveredjournal",
        "wallet_creditreference",
        "wallet_invoice",
    ),
    others={"postgresql": _triggers("postgresql"), "sqlite": [*_triggers("sqlite"), _in_currency("debit"), _in_currency("credit")]},
    functions=(_function(_CHAIN_FUNCTION, _CHAINED, _UNCHAINED), _function(_NUMBER_FUNCTION, _NUMBERED, _GAP)),
)
