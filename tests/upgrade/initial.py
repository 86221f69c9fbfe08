"""Writes the initial migration of each app anew, from its models.

    uv run --group dev python -m tests.upgrade.initial

Nothing is released yet, so a change of the models changes these migrations instead of adding one. What is written by hand stays in
migrations after them: SQL, the order beside migrations of libraries, and rows that every installation begins with.
"""

import os
import sys
from pathlib import Path
from unittest.mock import patch

import django
from django.core.management import call_command
from django.core.management.commands import makemigrations
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.operations.models import IndexOperation
from django.db.migrations.utils import resolve_relation

from tests import ROOT

LIST = Path(__file__).with_name("released.txt")
Key = tuple[str, str]


class Autodetector(MigrationAutodetector):
    """Creates a table after those that it refers to: each is created whole, and SQLite need not rebuild it for a later field."""

    def swappable_first_key(self, item: Key) -> Key:
        """Return what models are sorted by."""
        return f"{self._depth(item):03}", ".".join(item)

    def _depth(self, model: Key, *above: Key) -> int:
        """Return the length of the longest chain of references to models of the same app; a circle ends where it began."""
        fields = self.to_state.models[model].fields.values()
        targets = {resolve_relation(field.remote_field.model, *model) for field in fields if field.remote_field}
        seen = (*above, model)
        return 1 + max((self._depth(target, *seen) for target in targets if target[0] == model[0] and target not in seen), default=0)


def references_model(self: IndexOperation, name: str, _app_label: str) -> bool:
    """Tell whether an index or a constraint is on a model; Django supposes it, and so leaves it out of the model's creation."""
    return name.lower() == self.model_name_lower


def main() -> None:
    if LIST.read_text(encoding="utf-8").strip():
        sys.exit("There is a release: add a migration instead (manage.py makemigrations).")
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    django.setup()
    paths = [path for apps in ("*", "*/*") for path in ROOT.glob(f"{apps}/migrations/0*.py")]
    files = {path: path.read_text(encoding="utf-8") for path in paths}
    try:
        for path in files:
            path.unlink()
        with (
            patch.object(makemigrations.Command, "autodetector", Autodetector),
            patch.object(IndexOperation, "references_model", references_model),
        ):
            call_command("makemigrations", include_header=False)
    finally:
        for path, text in files.items():
            if path.name != "0001_initial.py" or not path.exists():
                path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
