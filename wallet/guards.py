"""What the database itself refuses to change in the ledger, and how: `marketplace.core.guards`."""

from marketplace.core.guards import Guards, Trigger, refuse

ACCOUNTS = "wallet_ledgeraccount"
IDENTITY = ("kind", "owner_id", "currency", "may_go_negative")
_SENTENCE = "the ledger only grows"


def _identity(vendor: str, differs: str) -> Trigger:
    """Return the trigger that keeps what an account is."""
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in IDENTITY)
    row, when = ("FOR EACH ROW ", f"({changed})") if vendor == "postgresql" else ("", changed)
    return Trigger(f"{ACCOUNTS}_identity", ACCOUNTS, "BEFORE UPDATE", f"{row}WHEN {when} {refuse(vendor, 'wallet', _SENTENCE)}")


def _in_currency(side: str) -> Trigger:
    """Return the trigger that keeps a transfer in its accounts' currency; on PostgreSQL a composite foreign key does."""
    other_currency = f"(SELECT currency FROM {ACCOUNTS} WHERE id = NEW.{side}_id) IS NOT NEW.currency"  # noqa: S608 - two constants
    then = f"WHEN {other_currency} {refuse('sqlite', 'wallet', 'the account is in another currency')}"
    return Trigger(f"wallet_transfer_{side}_in_currency", "wallet_transfer", "BEFORE INSERT", then)


LEDGER = Guards(
    app="wallet",
    sentence=_SENTENCE,
    append_only=("wallet_journal", "wallet_transfer", "wallet_payout", "wallet_ledgerseal", "wallet_sealedjournal"),
    others={
        "postgresql": [_identity("postgresql", "IS DISTINCT FROM")],
        "sqlite": [_identity("sqlite", "IS NOT"), _in_currency("debit"), _in_currency("credit")],
    },
)
