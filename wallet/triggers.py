"""The triggers that protect the ledger in the database (see `marketplace.core.triggers`)."""

from collections.abc import Sequence

from marketplace.core.triggers import Trigger, TriggerSet, refuse

ACCOUNTS = "wallet_ledgeraccount"
ACCOUNT_FIXED = ("kind", "owner_id", "currency", "may_go_negative")
WALLET_PAYOUTS, VENDOR_PAYOUTS, BATCHES = "wallet_walletpayout", "wallet_vendorpayout", "wallet_payoutbatch"
# Columns of billing details that never change: all but `current`, since a change adds a row.
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
# Columns of a payout that never change, and those that are fixed once its status is final.
WALLET_PAYOUT_FIXED = ("id", "wallet_id", "hold_id", "requested_at")
WALLET_PAYOUT_FIXED_WHEN_FINAL = ("status", "closing_journal_id", "reference", "reason")
VENDOR_PAYOUT_FIXED = ("id", "batch_id", "account_id", "journal_id", "details_id")
VENDOR_PAYOUT_FIXED_WHEN_FINAL = ("status", "return_journal_id", "reason", "settled_at")
BATCH_FIXED = ("id", "run", "currency", "transfer_currency", "rate", "created_at")
BATCH_FIXED_WHEN_FINAL = ("status", "exported_at", "exported_by_id")
# The only columns that change, by table.
CHANGEABLE = {
    WALLET_PAYOUTS: (*WALLET_PAYOUT_FIXED_WHEN_FINAL, "payment_details", "claimed_by_id", "claimed_at"),
    VENDOR_PAYOUTS: VENDOR_PAYOUT_FIXED_WHEN_FINAL,
    BATCHES: BATCH_FIXED_WHEN_FINAL,
}
TOP_UPS, EVENTS, REVERSALS, REVERSED_ORDERS = ("wallet_topup", "wallet_providerevent", "wallet_cardreversal", "wallet_reversedorder")
# By table: the columns that never change, a condition, and the columns that are fixed where it holds.
CARD_PAYMENTS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    TOP_UPS: (
        ("id", "user_id", "currency", "amount_minor", "provider", "created_at"),
        "OLD.journal_id IS NOT NULL",
        ("journal_id", "paid_at", "payment_reference"),
    ),
    EVENTS: (
        ("id", "provider", "event_id", "kind", "payment_reference", "reversal_reference", "amount_minor", "currency", "occurred_at"),
        "OLD.processed_at IS NOT NULL",
        ("processed_at", "outcome", "top_up_id"),
    ),
    REVERSALS: (
        ("id", "top_up_id", "kind", "amount_minor", "freeze_journal_id", "opened_at"),
        "OLD.status <> 'Open'",
        ("status", "closing_journal_id", "decided_at", "reference"),
    ),
    REVERSED_ORDERS: (
        ("id", "reversal_id", "order_id", "reversed_minor"),
        "(OLD.release_journal_id IS NOT NULL OR OLD.taken_minor <> 0)",
        ("release_journal_id", "taken_minor", "ended"),
    ),
}
# A dispute suspends a purchase at most once, when it is opened or later.
FIXED_WHEN_SUSPENDED = ("suspended", "withheld_minor", "withholding_journal_id")
_MESSAGE = "the ledger is append-only"


def _identity(vendor: str, differs: str) -> Trigger:
    """Return the trigger that prevents changes to an account's identity."""
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in ACCOUNT_FIXED)
    row, when = ("FOR EACH ROW ", f"({changed})") if vendor == "postgresql" else ("", changed)
    return Trigger(f"{ACCOUNTS}_identity", ACCOUNTS, "BEFORE UPDATE", f"{row}WHEN {when} {refuse(vendor, 'wallet', _MESSAGE)}")


def _payouts(vendor: str) -> list[Trigger]:
    """Return the triggers that protect payouts and their outcome; bank details can only be erased."""
    differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
    details = f"(OLD.payment_details {differs} NEW.payment_details AND NEW.payment_details <> '')"
    return [
        *_immutable(
            vendor,
            differs,
            WALLET_PAYOUTS,
            WALLET_PAYOUT_FIXED,
            "OLD.status <> 'Waiting'",
            WALLET_PAYOUT_FIXED_WHEN_FINAL,
            f" OR {details}",
        ),
        *_immutable(
            vendor, differs, VENDOR_PAYOUTS, VENDOR_PAYOUT_FIXED, "OLD.status IN ('Bounced', 'Cancelled')", VENDOR_PAYOUT_FIXED_WHEN_FINAL
        ),
        *_immutable(vendor, differs, BATCHES, BATCH_FIXED, "OLD.status <> 'Prepared'", BATCH_FIXED_WHEN_FINAL),
    ]


def _immutable(
    vendor: str, differs: str, table: str, fixed: Sequence[str], final: str, fixed_when_final: Sequence[str], further: str = ""
) -> list[Trigger]:
    """Return the triggers that refuse changes to the `fixed` columns, changes to further ones where `final` holds, and deletions."""
    changed, changed_when_final = (
        " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in columns) for columns in (fixed, fixed_when_final)
    )
    refused_if = f"({changed} OR ({final} AND ({changed_when_final})){further})"
    row, removal = ("FOR EACH ROW ", "BEFORE DELETE OR TRUNCATE") if vendor == "postgresql" else ("", "BEFORE DELETE")
    refused = refuse(vendor, "wallet", "records of payments, payouts and events cannot be changed")
    statement = "FOR EACH STATEMENT " if vendor == "postgresql" else ""
    return [
        Trigger(f"{table}_immutable", table, "BEFORE UPDATE", f"{row}WHEN {refused_if} {refused}"),
        Trigger(f"{table}_never_deleted", table, removal, f"{statement}{refused}"),
    ]


def _top_ups(vendor: str) -> list[Trigger]:
    """Return the triggers that protect top-ups, providers' events and reversals."""
    differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
    triggers = []
    for table, (fixed, final, fixed_when_final) in CARD_PAYMENTS.items():
        changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in FIXED_WHEN_SUSPENDED)
        further = f" OR (OLD.suspended AND ({changed}))" if table == REVERSED_ORDERS else ""
        immutable, never_deleted = _immutable(vendor, differs, table, fixed, final, fixed_when_final, further)
        triggers += [immutable] if table == EVENTS else [immutable, never_deleted]
    # An event that fits no payment of ours can be deleted.
    row = "FOR EACH ROW " if vendor == "postgresql" else ""
    when = f"{row}WHEN (OLD.top_up_id IS NOT NULL) {refuse(vendor, 'wallet', 'events of a provider cannot be changed')}"
    return [*triggers, Trigger(f"{EVENTS}_never_deleted", EVENTS, "BEFORE DELETE", when)]


def _billing_details(vendor: str, differs: str) -> Trigger:
    """Return the trigger that keeps billing details as they were entered; those that nothing refers to can be deleted."""
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in BILLING_FIXED)
    row, when = ("FOR EACH ROW ", f"({changed})") if vendor == "postgresql" else ("", changed)
    refused = refuse(vendor, "wallet", "billing details cannot be changed")
    return Trigger(f"{BILLING_DETAILS}_immutable", BILLING_DETAILS, "BEFORE UPDATE", f"{row}WHEN {when} {refused}")


def _in_currency(side: str) -> Trigger:
    """Return the trigger that requires a transfer's currency to be its accounts'; on PostgreSQL a composite foreign key does."""
    other_currency = f"(SELECT currency FROM {ACCOUNTS} WHERE id = NEW.{side}_id) IS NOT NEW.currency"  # noqa: S608 - two constants
    body = f"WHEN {other_currency} {refuse('sqlite', 'wallet', 'the account is in another currency')}"
    return Trigger(f"wallet_transfer_{side}_in_currency", "wallet_transfer", "BEFORE INSERT", body)


# The account was updated before, in the same transaction. Its balance and number of entries are those of the journal, and
# its previous balance is that of the previous entry: a balance that was changed without a journal cannot be used.
_FOLLOWS = f"""
SELECT 1 FROM {ACCOUNTS} account
  LEFT JOIN wallet_journal before ON before.wallet_id = account.id AND before.wallet_entry = NEW.wallet_entry - 1
 WHERE account.id = NEW.wallet_id AND account.kind = 'wallet'
   AND account.entries = NEW.wallet_entry AND account.balance_minor = NEW.wallet_balance_minor
   AND NEW.wallet_balance_minor - NEW.wallet_net_minor = COALESCE(before.wallet_balance_minor, 0)
   AND (before.id IS NOT NULL OR NEW.wallet_entry = 1)
"""  # noqa: S608 - our own names
_UNCHAINED = "the entry does not follow the wallet''s last"
_CHAIN_FUNCTION = f"""
CREATE OR REPLACE FUNCTION wallet_check_chain() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF NOT EXISTS ({_FOLLOWS}) THEN
        RAISE EXCEPTION 'refused: {_UNCHAINED}' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END
$body$
"""


def _chain(vendor: str) -> Trigger:
    """Return the trigger that chains the entries of a wallet."""
    if vendor == "postgresql":
        body = "FOR EACH ROW WHEN (NEW.wallet_id IS NOT NULL) EXECUTE FUNCTION wallet_check_chain()"
    else:
        body = f"WHEN NEW.wallet_id IS NOT NULL AND NOT EXISTS ({_FOLLOWS}) {refuse('sqlite', 'wallet', _UNCHAINED)}"
    return Trigger("wallet_journal_follows", "wallet_journal", "BEFORE INSERT", body)


# The number of an invoice follows the seller's last in the fiscal year: there is no gap.
_NUMBERED = """
SELECT 1 FROM wallet_invoice before
 WHERE before.seller_id = NEW.seller_id AND before.fiscal_year = NEW.fiscal_year AND before.sequence = NEW.sequence - 1
"""
_GAP = "the number does not follow the seller''s last"
_NUMBER_FUNCTION = f"""
CREATE OR REPLACE FUNCTION wallet_check_number() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF NOT EXISTS ({_NUMBERED}) THEN
        RAISE EXCEPTION 'refused: {_GAP}' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END
$body$
"""


def _invoice_numbers(vendor: str) -> Trigger:
    """Return the trigger that refuses a gap between the numbers of invoices."""
    if vendor == "postgresql":
        body = "FOR EACH ROW WHEN (NEW.sequence <> 1) EXECUTE FUNCTION wallet_check_number()"
    else:
        body = f"WHEN NEW.sequence <> 1 AND NOT EXISTS ({_NUMBERED}) {refuse('sqlite', 'wallet', _GAP)}"
    return Trigger("wallet_invoice_follows", "wallet_invoice", "BEFORE INSERT", body)


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
    others={
        "postgresql": [
            _identity("postgresql", "IS DISTINCT FROM"),
            _chain("postgresql"),
            *_payouts("postgresql"),
            *_top_ups("postgresql"),
            _billing_details("postgresql", "IS DISTINCT FROM"),
            _invoice_numbers("postgresql"),
        ],
        "sqlite": [
            _identity("sqlite", "IS NOT"),
            _chain("sqlite"),
            _in_currency("debit"),
            _in_currency("credit"),
            *_payouts("sqlite"),
            *_top_ups("sqlite"),
            _billing_details("sqlite", "IS NOT"),
            _invoice_numbers("sqlite"),
        ],
    },
    functions=(_CHAIN_FUNCTION, _NUMBER_FUNCTION),
)
