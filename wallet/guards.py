"""Triggers by which the database itself refuses to change what the ledger says.

They are made after every `migrate`, not in a migration: SQLite drops a table's triggers without a word when a later
migration remakes the table (findings: ledger). A system check and `manage.py reconcile` assert that they are there.
"""

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

APPEND_ONLY = ("wallet_journal", "wallet_transfer")
ACCOUNTS = "wallet_ledgeraccount"
IDENTITY = ("kind", "owner_id", "currency", "may_go_negative")

_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION wallet_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION '% of % refused: the ledger only grows', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
END
$body$
"""


def _postgresql() -> dict[str, str]:
    changed = " OR ".join(f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in IDENTITY)
    triggers = {
        # For each statement: TRUNCATE has no rows, and a change of no row is refused as well.
        f"{table}_append_only": (
            f"CREATE OR REPLACE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse()"
        )
        for table in APPEND_ONLY
    }
    triggers[f"{ACCOUNTS}_identity"] = (
        f"CREATE OR REPLACE TRIGGER {ACCOUNTS}_identity BEFORE UPDATE ON {ACCOUNTS} "
        f"FOR EACH ROW WHEN ({changed}) EXECUTE FUNCTION wallet_refuse()"
    )
    return triggers


def _sqlite() -> dict[str, str]:
    refuse = "BEGIN SELECT RAISE(ABORT, 'refused: the ledger only grows'); END"
    changed = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in IDENTITY)
    triggers = {
        # INSERT OR REPLACE deletes first: `recursive_triggers`, which the settings turn on, lets the trigger see it.
        f"{table}_no_{event}": f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} {refuse}"
        for table in APPEND_ONLY
        for event in ("update", "delete")
    }
    triggers[f"{ACCOUNTS}_identity"] = f"CREATE TRIGGER {ACCOUNTS}_identity BEFORE UPDATE ON {ACCOUNTS} WHEN {changed} {refuse}"
    for side in ("debit", "credit"):
        name = f"wallet_transfer_{side}_in_currency"
        other_currency = f"(SELECT currency FROM wallet_ledgeraccount WHERE id = NEW.{side}_id) IS NOT NEW.currency"  # noqa: S608 - two constants
        refuse_currency = "BEGIN SELECT RAISE(ABORT, 'refused: the account is in another currency'); END"
        triggers[name] = f"CREATE TRIGGER {name} BEFORE INSERT ON wallet_transfer WHEN {other_currency} {refuse_currency}"
    return triggers


def _wanted(connection: BaseDatabaseWrapper) -> dict[str, str]:
    return _postgresql() if connection.vendor == "postgresql" else _sqlite()


def ready_for_guards(connection: BaseDatabaseWrapper) -> bool:
    """Tell whether the ledger's tables are there: the check and the hook also run before and between migrations."""
    return {*APPEND_ONLY, ACCOUNTS} <= set(connection.introspection.table_names())


def install_guards(connection: BaseDatabaseWrapper) -> None:
    """Make the triggers, in their present wording."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_FUNCTION)
        for name, statement in _wanted(connection).items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            cursor.execute(statement)


def remove_guards(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers: for tests, which empty every table between them."""
    with connection.cursor() as cursor:
        for name in _wanted(connection):
            table = next(table for table in (*APPEND_ONLY, ACCOUNTS) if name.startswith(f"{table}_"))
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def missing_guards(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the names of triggers that should be there and are not, or are switched off."""
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.vendor == "postgresql":
        query = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')"
    with connection.cursor() as cursor:
        cursor.execute(query)
        present = {row[0] for row in cursor.fetchall()}
    return sorted(set(_wanted(connection)) - present)


def install_after_migrate(*, using: str, **_kwargs: Any) -> None:
    """Make the triggers once the tables are there (a `post_migrate` receiver)."""
    connection = connections[using]
    if ready_for_guards(connection):
        install_guards(connection)
