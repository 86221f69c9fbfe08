"""Triggers that make tables append-only, and enforce other rules that a constraint cannot.

They are created after every `migrate`, not in a migration: SQLite silently drops a table's triggers when a later migration
rebuilds the table, and refuses to rebuild one that another table's trigger reads. So on SQLite they are dropped before migrations run.
A system check reports triggers that are missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate, pre_migrate

_PRESENT = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')",
}
_guards: list["Guards"] = []


@dataclass(frozen=True)
class Trigger:
    """One trigger.

    Args:
        name: Unique in the database.
        table: Whose rows it guards.
        when: `BEFORE ...`, up to the table's name.
        then: What follows the table's name.
    """

    name: str
    table: str
    when: str
    then: str

    def create(self, vendor: str) -> str:
        """Return the statement that makes it."""
        verb = "CREATE OR REPLACE TRIGGER" if vendor == "postgresql" else "CREATE TRIGGER"
        return f"{verb} {self.name} {self.when} ON {self.table} {self.then}"

    def drop(self, vendor: str) -> str:
        """Return the statement that drops it."""
        return f"DROP TRIGGER IF EXISTS {self.name}" + (f" ON {self.table}" if vendor == "postgresql" else "")


@dataclass(frozen=True)
class Guards:
    """The triggers of one app, on both engines.

    Args:
        app: The app's label.
        sentence: What a refusal says.
        append_only: Tables to which rows are only added.
        others: By engine, triggers of the app's own making; they may call `refuse`.
        functions: Statements that make the functions which PostgreSQL's triggers of the app's own making call.
    """

    app: str
    sentence: str
    append_only: Sequence[str]
    others: Mapping[str, Sequence[Trigger]] = field(default_factory=dict)
    functions: Sequence[str] = ()

    @property
    def tables(self) -> set[str]:
        """The tables that must be there first."""
        return {*self.append_only, *(trigger.table for triggers in self.others.values() for trigger in triggers)}

    def triggers(self, vendor: str) -> list[Trigger]:
        """Return what should be there."""
        if vendor == "postgresql":
            # For each statement: TRUNCATE has no rows, and a change of no row is refused as well.
            then = f"FOR EACH STATEMENT {refuse(vendor, self.app, self.sentence)}"
            events = [("append_only", "UPDATE OR DELETE OR TRUNCATE")]
        else:
            # INSERT OR REPLACE deletes first: `recursive_triggers`, which the settings turn on, lets the trigger see it.
            then = refuse(vendor, self.app, self.sentence)
            events = [("no_update", "UPDATE"), ("no_delete", "DELETE")]
        own = [Trigger(f"{table}_{name}", table, f"BEFORE {event}", then) for table in self.append_only for name, event in events]
        return [*own, *self.others.get(vendor, ())]

    def ready(self, connection: BaseDatabaseWrapper) -> bool:
        """Tell whether the tables are there: the check and the hook also run before and between migrations."""
        return self.tables <= set(connection.introspection.table_names())

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Make the triggers, in their present wording."""
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                for function in (_function(self.app, self.sentence), *self.functions):
                    cursor.execute(function)
            for trigger in self.triggers(connection.vendor):
                if connection.vendor == "sqlite":
                    cursor.execute(trigger.drop("sqlite"))
                cursor.execute(trigger.create(connection.vendor))

    def remove(self, connection: BaseDatabaseWrapper) -> None:
        """Drop the triggers: for tests, which empty every table between them."""
        with connection.cursor() as cursor:
            for trigger in self.triggers(connection.vendor):
                cursor.execute(trigger.drop(connection.vendor))

    def missing(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Return the names of triggers that should be there and are not, or are switched off."""
        with connection.cursor() as cursor:
            cursor.execute(_PRESENT[connection.vendor])
            present = {row[0] for row in cursor.fetchall()}
        return sorted({trigger.name for trigger in self.triggers(connection.vendor)} - present)

    def register(self, config: AppConfig) -> None:
        """Make the triggers after every migration, and check for them at start; an app calls this in its `ready()`."""
        if self not in _guards:
            _guards.append(self)
        pre_migrate.connect(self._before_migrate, sender=config, dispatch_uid=f"{self.app}.guards", weak=False)
        post_migrate.connect(self._after_migrate, sender=config, dispatch_uid=f"{self.app}.guards", weak=False)
        # A bound method cannot carry the tags that Django puts on a check.
        register(partial(self.check), Tags.database)

    def check(self, databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
        """Return an error for each trigger that is not there."""
        return [
            Error(
                f"The trigger {name} is missing from database {alias}: {self.sentence}, and now could be changed.",
                hint="Run `manage.py migrate --skip-checks`, which makes it again, then find out who dropped it.",
                id="core.E010",
            )
            for alias in databases or ()
            if self.ready(connections[alias])
            for name in self.missing(connections[alias])
        ]

    def _before_migrate(self, *, using: str, plan: Sequence[Any], **_kwargs: Any) -> None:
        if plan and connections[using].vendor == "sqlite":
            self.remove(connections[using])

    def _after_migrate(self, *, using: str, **_kwargs: Any) -> None:
        if self.ready(connections[using]):
            self.install(connections[using])


def every_guard() -> Iterable[Guards]:
    """Return the guards of all apps."""
    return tuple(_guards)


def refuse(vendor: str, app: str, sentence: str) -> str:
    """Return what a trigger of the app does in order to refuse."""
    if vendor == "postgresql":
        return f"EXECUTE FUNCTION {app}_refuse()"
    return f"BEGIN SELECT RAISE(ABORT, 'refused: {sentence}'); END"


def _function(app: str, sentence: str) -> str:
    return f"""
CREATE OR REPLACE FUNCTION {app}_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION '% of % refused: {sentence}', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
END
$body$
"""
