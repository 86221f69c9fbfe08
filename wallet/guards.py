"""The triggers that protect the ledger in the database (see `marketplace.core.guards`)."""

from collections.abc import Iterable

from marketplace.core.guards import Guards, Trigger, refuse

ACCOUNTS = "wallet_ledgeraccount"
IDENTITY = ("kind", "owner_id", "currency", "may_go_negative")
WALLET_PAYOUTS = "wallet_walletpayout"
# Columns of a payout request that never change, and those that are fixed once it is settled.
ASKED = ("id", "wallet_id", "asked_id", "requested_at")
SETTLED = ("status", "settled_id", "reference", "reason")
# The only columns that change.
CHANGING = (*SETTLED, "payment_details", "claimed_by_id", "claimed_at")
TOP_UPS, EVENTS, REVERSALS, FROZEN_ORDERS = ("wallet_topup", "wallet_providerevent", "wallet_reversal", "wallet_frozenorder")
# By table: the columns that never change, a condition, and the columns that are fixed where it holds.
PAID: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    TOP_UPS: (
        ("id", "user_id", "currency", "amount_minor", "provider", "created_at"),
        "OLD.journal_id IS NOT NULL",
        ("journal_id", "paid_at", "payment_reference"),
    ),
    EVENTS: (
        ("id", "provider", "event_id", "kind", "payment_reference", "case_reference", "amount_minor", "currency", "occurred_at"),
        "OLD.applied_at IS NOT NULL",
        ("applied_at", "outcome", "top_up_id"),
    ),
    REVERSALS: (
        ("id", "top_up_id", "kind", "amount_minor", "frozen_id", "opened_at"),
        "OLD.status <> 'Open'",
        ("status", "settled_id", "decided_at", "reference"),
    ),
    FROZEN_ORDERS: (
        ("id", "reversal_id", "order_id", "withheld_minor", "withheld_id"),
        "OLD.released_id IS NOT NULL OR OLD.taken_minor <> 0",
        ("released_id", "taken_minor"),
    ),
}
_SENTENCE = "the ledger only grows"


def _identity(vendor: str, differs: str) -> Trigger:
    """Return the trigger that prevents changes to an account's identity."""
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in IDENTITY)
    row, when = ("FOR EACH ROW ", f"({changed})") if vendor == "postgresql" else ("", changed)
    return Trigger(f"{ACCOUNTS}_identity", ACCOUNTS, "BEFORE UPDATE", f"{row}WHEN {when} {refuse(vendor, 'wallet', _SENTENCE)}")


def _kept(vendor: str, table: str, changed: str, sentence: str) -> list[Trigger]:
    """Return the triggers that refuse a change of a row, and any deletion."""
    row, removal = ("FOR EACH ROW ", "BEFORE DELETE OR TRUNCATE") if vendor == "postgresql" else ("", "BEFORE DELETE")
    refused = refuse(vendor, "wallet", sentence)
    statement = "FOR EACH STATEMENT " if vendor == "postgresql" else ""
    return [
        Trigger(f"{table}_kept", table, "BEFORE UPDATE", f"{row}WHEN ({changed}) {refused}"),
        Trigger(f"{table}_never_deleted", table, removal, f"{statement}{refused}"),
    ]


def _any_differs(columns: Iterable[str], differs: str) -> str:
    return " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in columns)


def _wallet_payouts(vendor: str, differs: str) -> list[Trigger]:
    """Return the triggers that protect payout requests and their outcome; bank details can only be erased."""
    details = f"OLD.payment_details {differs} NEW.payment_details AND NEW.payment_details <> ''"
    settled = f"OLD.status <> 'Waiting' AND ({_any_differs(SETTLED, differs)})"
    changed = f"{_any_differs(ASKED, differs)} OR ({settled}) OR ({details})"
    return _kept(vendor, WALLET_PAYOUTS, changed, "what was asked to be paid out stays as it was")


def _top_ups(vendor: str, differs: str) -> list[Trigger]:
    """Return the triggers that protect what was paid for, what providers told, and what was returned."""
    triggers = []
    for table, (fixed, final, once) in PAID.items():
        ended = f"({final}) AND ({_any_differs(once, differs)})"
        changed = f"{_any_differs(fixed, differs)} OR ({ended})"
        kept, never_deleted = _kept(vendor, table, changed, "what a provider told stays as it was")
        triggers += [kept] if table == EVENTS else [kept, never_deleted]
    # An event that fits no payment of ours can be deleted.
    row = "FOR EACH ROW " if vendor == "postgresql" else ""
    refused = refuse(vendor, "wallet", "what a provider told stays as it was")
    when = f"{row}WHEN (OLD.top_up_id IS NOT NULL) {refused}"
    return [*triggers, Trigger(f"{EVENTS}_never_deleted", EVENTS, "BEFORE DELETE", when)]


def _in_currency(side: str) -> Trigger:
    """Return the trigger that requires a transfer's currency to be its accounts'; on PostgreSQL a composite foreign key does."""
    other_currency = f"(SELECT currency FROM {ACCOUNTS} WHERE id = NEW.{side}_id) IS NOT NEW.currency"  # noqa: S608 - two constants
    then = f"WHEN {other_currency} {refuse('sqlite', 'wallet', 'the account is in another currency')}"
    return Trigger(f"wallet_transfer_{side}_in_currency", "wallet_transfer", "BEFORE INSERT", then)


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
CREATE OR REPLACE FUNCTION wallet_follow() RETURNS trigger LANGUAGE plpgsql AS $body$
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
        then = "FOR EACH ROW WHEN (NEW.wallet_id IS NOT NULL) EXECUTE FUNCTION wallet_follow()"
    else:
        then = f"WHEN NEW.wallet_id IS NOT NULL AND NOT EXISTS ({_FOLLOWS}) {refuse('sqlite', 'wallet', _UNCHAINED)}"
    return Trigger("wallet_journal_follows", "wallet_journal", "BEFORE INSERT", then)


LEDGER = Guards(
    app="wallet",
    sentence=_SENTENCE,
    append_only=(
        "wallet_journal",
        "wallet_transfer",
        "wallet_vendorpayout",
        "wallet_ledgerdigest",
        "wallet_coveredjournal",
        "wallet_creditreference",
    ),
    others={
        "postgresql": [
            _identity("postgresql", "IS DISTINCT FROM"),
            _chain("postgresql"),
            *_wallet_payouts("postgresql", "IS DISTINCT FROM"),
            *_top_ups("postgresql", "IS DISTINCT FROM"),
        ],
        "sqlite": [
            _identity("sqlite", "IS NOT"),
            _chain("sqlite"),
            _in_currency("debit"),
            _in_currency("credit"),
            *_wallet_payouts("sqlite", "IS NOT"),
            *_top_ups("sqlite", "IS NOT"),
        ],
    },
    functions=(_CHAIN_FUNCTION,),
)
