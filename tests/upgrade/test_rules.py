"""Migrations since the last release leave its code alone, and the rules that say so see what would not."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from . import rules

NOTHING: Any = migrations.RunPython.noop
TITLE, NOTE = models.CharField(max_length=50), models.CharField(max_length=50, null=True)
HARMFUL: dict[str, Operation] = {
    "drop a column": migrations.RemoveField("Book", "title"),
    "column without a value": migrations.AddField("Book", "pages", models.IntegerField()),
    "unique column of one value": migrations.AddField("Book", "code", models.IntegerField(db_default=0, unique=True)),
    "no more null": migrations.AlterField("Book", "note", models.CharField(max_length=50, default="")),
    "shorter": migrations.AlterField("Book", "title", models.CharField(max_length=10)),
    "another type": migrations.AlterField("Book", "title", models.IntegerField()),
    "unique now": migrations.AlterField("Book", "title", models.CharField(max_length=50, unique=True)),
    "no default any more": migrations.AlterField("Book", "stock", models.IntegerField()),
    "constraint": migrations.AddConstraint("Book", models.CheckConstraint(condition=models.Q(stock__gte=0), name="book_stock")),
    "by Python": migrations.RunPython(NOTHING),
    "hidden": migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("Book", "title")]),
}
HARMLESS: dict[str, Operation] = {
    "table": migrations.CreateModel("Shelf", [("id", models.AutoField(primary_key=True)), ("name", models.TextField())]),
    "column of null": migrations.AddField("Book", "pages", models.IntegerField(null=True)),
    "longer": migrations.AlterField("Book", "title", models.CharField(max_length=80)),
    "words": migrations.AlterField("Book", "title", models.CharField(max_length=50, help_text="Its name.")),
    "forgotten by the code only": migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("Book", "note")]),
}


def found(operations: Sequence[Operation], **attributes: Any) -> list[str]:
    """Return what the rules say of a migration with these operations, over one table."""
    state = ProjectState()
    fields: list[tuple[str, models.Field[Any, Any]]] = [
        ("id", models.AutoField(primary_key=True)),
        ("title", TITLE),
        ("note", NOTE),
        ("stock", models.IntegerField(db_default=0)),
    ]
    state.add_model(ModelState("shelf", "Book", fields))
    made = type("Migration", (migrations.Migration,), {"operations": list(operations), **attributes})
    return list(rules.complaints(made("0002_made_up", "shelf"), state))


@pytest.mark.parametrize("operation", HARMFUL.values(), ids=HARMFUL.keys())
def test_operation_that_breaks_old_code_is_refused_unless_a_reason_is_given(operation: Operation) -> None:
    assert len(found([operation])) == 1
    assert found([operation], **{rules.REASON: "No released code reads it."}) == []


@pytest.mark.parametrize("operation", HARMLESS.values(), ids=HARMLESS.keys())
def test_operation_that_old_code_does_not_notice_is_allowed(operation: Operation) -> None:
    assert found([operation]) == []


def test_migration_rules_consider_earlier_operations() -> None:
    longer, shorter = (migrations.AlterField("Book", "title", models.CharField(max_length=length)) for length in (80, 60))
    assert len(found([longer, shorter])) == 1


def test_migrations_since_the_last_release_leave_its_code_alone() -> None:
    assert rules.new_complaints() == []


def test_before_the_first_release_tables_are_created_by_initial_migrations_alone() -> None:
    if rules.released():
        pytest.skip("there is a release: migrations are added")
    loader = MigrationLoader(None)
    later = {file: loader.disk_migrations[key] for file, key in rules.own_migrations().items() if key[1] != "0001_initial"}
    by_hand = migrations.RunPython | migrations.RunSQL
    assert [file for file, migration in later.items() for made in migration.operations if not isinstance(made, by_hand)] == []


def test_every_released_migration_still_exists() -> None:
    assert sorted(rules.released() - rules.own_migrations().keys()) == []
