"""Triggers that make tables append-only and enforce other rules that constraints cannot.

They are created after every `migrate`, not in a migration: SQLite silently drops a table's triggers when a later migration
rebuilds the table, and refuses to rebuild a table that another table's trigger reads. On SQLite they are dropped before migrations run.
A system check reports missing triggers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate, pre_migrate

_TRIGGER_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')",
}
# The trigger sets of all apps.
TRIGGER_SETS: list["TriggerSet"] = []


@dataclass(frozen=True)
class Trigger:
    """A trigger.

    Args:
        name: Unique in the database.
        table: The table of the trigger.
        timing: The SQL before the table's name, such as `BEFORE UPDATE`.
        body: The SQL after the table's name.
    """

    name: str
    table: str
    timing: str
    body: str

    def create_sql(self, vendor: str) -> str:
        verb = "CREATE OR REPLACE TRIGGER" if vendor == "postgresql" else "CREATE TRIGGER"
        return f"{verb} {self.name} {self.timing} ON {self.table} {self.body}"

    def drop_sql(self, vendor: str) -> str:
        return f"DROP TRIGGER IF EXISTS {self.name}" + (f" ON {self.table}" if vendor == "postgresql" else "")


@dataclass(frozen=True)
class TriggerSet:
    """The triggers of an app, on both databases.

    Args:
        app: The app's label.
        message: The message of a refusal; on PostgreSQL also where further triggers use `refusal_sql`.
        append_only: Tables into which rows can only be inserted.
        others: Further triggers by database vendor; they may use `refusal_sql`.
        functions: Statements that create the functions of further triggers on PostgreSQL.
    """

    app: str
    message: str
    append_only: Sequence[str]
    others: Mapping[str, Sequence[Trigger]] = field(default_factory=dict)
    functions: Sequence[str] = ()

    @property
    def tables(self) -> set[str]:
        """The tables that the triggers need."""
        return {*self.append_only, *(trigger.table for triggers in self.others.values() for trigger in triggers)}

    def triggers(self, vendor: str) -> list[Trigger]:
        """Return the triggers of the app."""
        if vendor == "postgresql":
            # For each statement, which includes TRUNCATE and statements that change no row.
            body = f"FOR EACH STATEMENT {refusal_sql(vendor, self.app, self.message)}"
            events = [("append_only", "UPDATE OR DELETE OR TRUNCATE")]
        else:
            # INSERT OR REPLACE deletes first, which fires triggers with `recursive_triggers`, set in the settings.
            body = refusal_sql(vendor, self.app, self.message)
            events = [("no_update", "UPDATE"), ("no_delete", "DELETE")]
        append_only = [Trigger(f"{table}_{name}", table, f"BEFORE {event}", body) for table in self.append_only for name, event in events]
        return [*append_only, *self.others.get(vendor, ())]

    def tables_exist(self, connection: BaseDatabaseWrapper) -> bool:
        """Tell whether the tables exist: the check and the signal handlers also run before and between migrations."""
        return self.tables <= set(connection.introspection.table_names())

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create or replace the triggers."""
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                for function in (_refusal_function(self.app, self.message), *self.functions):
                    cursor.execute(function)
            for trigger in self.triggers(connection.vendor):
                if connection.vendor == "sqlite":
                    cursor.execute(trigger.drop_sql("sqlite"))
                cursor.execute(trigger.create_sql(connection.vendor))

    def remove(self, connection: BaseDatabaseWrapper) -> None:
        """Drop the triggers; for SQLite migrations, and for tests, which empty the tables."""
        with connection.cursor() as cursor:
            for trigger in self.triggers(connection.vendor):
                cursor.execute(trigger.drop_sql(connection.vendor))

    def missing(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Return the names of missing or disabled triggers."""
        with connection.cursor() as cursor:
            cursor.execute(_TRIGGER_NAMES[connection.vendor])
            present = {row[0] for row in cursor.fetchall()}
        return sorted({trigger.name for trigger in self.triggers(connection.vendor)} - present)

    def register(self, config: AppConfig) -> None:
        """Create the triggers after every `migrate`, and register the system check; call it in the app's `ready()`."""
        TRIGGER_SETS.append(self)
        pre_migrate.connect(self._before_migrate, sender=config, dispatch_uid=f"{self.app}.triggers", weak=False)
        post_migrate.connect(self._after_migrate, sender=config, dispatch_uid=f"{self.app}.triggers", weak=False)
        # Django sets attributes on a check, which a bound method does not allow.
        register(partial(self.check), Tags.database)

    def check(self, databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
        """Return an error for each missing trigger (a system check)."""
        return [
            Error(
                f"The trigger {name} is missing from database {alias}, so what it protects could be changed.",
                hint="Run `manage.py migrate --skip-checks`, which creates it again, then find out who dropped it.",
                id="core.E010",
            )
            for alias in databases or ()
            if self.tables_exist(connections[alias])
            for name in self.missing(connections[alias])
        ]

    def _before_migrate(self, *, using: str, plan: Sequence[Any], **_kwargs: Any) -> None:
        if plan and connections[using].vendor == "sqlite":
            self.remove(connections[using])

    def _after_migrate(self, *, using: str, **_kwargs: Any) -> None:
        if self.tables_exist(connections[using]):
            self.install(connections[using])


def refusal_sql(vendor: str, app: str, message: str) -> str:
    """Return the SQL with which a trigger of the app refuses a statement."""
    if vendor == "postgresql":
        return f"EXECUTE FUNCTION {app}_refuse()"
    return f"BEGIN SELECT RAISE(ABORT, 'refused: {message}'); END"


def _refusal_function(app: str, message: str) -> str:
    return f"""
CREATE OR REPLACE FUNCTION {app}_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION '% of % refused: {message}', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
END
$body$
"""
