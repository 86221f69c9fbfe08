"""The operations that a migration may have while nodes of the last release still run, on both databases.

`released.txt` lists the migrations of the last release; it is empty until there is one. It is written at each release, in the release's own commit, by
`git ls-files '*/migrations/0*.py' > tests/upgrade/released.txt`; the last commit that changed it is the code that upgrades start from.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED

from ..architecture.source import PACKAGES

LIST = Path(__file__).with_name("released.txt")
# A migration that has this sentence on its class may do what the rules refuse; it says why the old code runs all the same.
REASON = "old_code_runs_because"
HARMLESS = (
    migrations.CreateModel,
    migrations.AddIndex,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    migrations.RemoveConstraint,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.AlterModelTableComment,
)
# Arguments of a field that its column does not know, or that only take a limit away.
OF_NO_COLUMN = {
    "auto_now", "auto_now_add", "blank", "choices", "db_comment", "db_index", "default", "editable", "error_messages", "help_text",
    "limit_choices_to", "on_delete", "related_name", "related_query_name", "validators", "verbose_name",
}  # fmt: skip


def released() -> set[str]:
    return set(LIST.read_text(encoding="utf-8").split())


def own_migrations() -> dict[str, tuple[str, str]]:
    """Return our migrations: file, and app and name."""
    loader = MigrationLoader(None)
    files = {f"{migration.__module__.replace('.', '/')}.py": key for key, migration in loader.disk_migrations.items()}
    return {file: key for file, key in files.items() if file.split("/")[0] in PACKAGES}


def new_complaints() -> list[str]:
    """Return what the migrations since the last release do that its code would not survive."""
    loader, known = MigrationLoader(None), released()
    if not known:
        return []
    return [
        f"{file}: {complaint}"
        for file, key in own_migrations().items()
        if file not in known
        for complaint in complaints(loader.disk_migrations[key], loader.project_state(key, at_end=False))
    ]


def complaints(migration: Any, before: ProjectState) -> Iterator[str]:
    """Yield a sentence for each operation that code from before might not survive; none where the migration declares why it does."""
    if getattr(migration, REASON, ""):
        return
    state = before.clone()
    for operation in migration.operations:
        after = state.clone()
        operation.state_forwards(migration.app_label, after)
        for sentence in _judge(operation, migration.app_label, state, after):
            yield f"{sentence} ({operation.describe()})"
        state = after


def _judge(operation: Operation, app: str, before: ProjectState, after: ProjectState) -> Iterator[str]:
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        # What only the code's own picture of the tables forgets stays in the database.
        for inner in operation.database_operations:
            then = before.clone()
            inner.state_forwards(app, then)
            yield from _judge(inner, app, before, then)
            before = then
    elif isinstance(operation, migrations.AddField):
        yield from _added(operation.field)
    elif isinstance(operation, migrations.AlterField):
        model, name = (app, operation.model_name_lower), operation.name
        yield from _altered(before.models[model].fields[name], after.models[model].fields[name])
    elif isinstance(operation, migrations.RunPython | migrations.RunSQL):
        yield "nobody can tell by rule what it does to rows and tables"
    elif not isinstance(operation, HARMLESS):
        yield "the old code still uses what it takes away or renames, or writes what it refuses"


def _added(field: Any) -> Iterator[str]:
    if field.many_to_many or field.null or field.generated:
        return
    if field.db_default is NOT_PROVIDED:
        yield "the old code names no value for the column: it needs null=True or db_default"
    elif field.unique:
        yield "two rows of the old code get the same value in a unique column"


def _altered(old: models.Field[Any, Any], new: models.Field[Any, Any]) -> Iterator[str]:
    (_, kind, _, was), (_, new_kind, _, now) = old.deconstruct(), new.deconstruct()
    if kind != new_kind:
        yield "the column changes its type"
    for name in sorted((was.keys() | now.keys()) - OF_NO_COLUMN):
        if was.get(name) != now.get(name) and not _widens(name, was.get(name), now.get(name)):
            yield f"the column's {name} changes"


def _widens(argument: str, was: Any, now: Any) -> bool:
    if argument == "null":
        return bool(now)
    if argument == "unique":
        return not now
    if argument == "max_length":
        return now is None or (was is not None and now > was)
    return argument == "db_default" and now is not None
