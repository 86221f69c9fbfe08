"""Makes the previews that the demo keeps of its files anew, with the sandbox.

uv run --group dev python -m tests.demo_previews
"""

import json
import os
import sys
from tempfile import TemporaryDirectory
from typing import Any

import django


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    django.setup()
    from catalog.models import Category, Deliverable, Listing  # noqa: PLC0415 - once Django is set up
    from marketplace.demo.entries import load_entries  # noqa: PLC0415
    from marketplace.storage.local import LocalStorage  # noqa: PLC0415
    from vendors.file_previews import previews_of_file  # noqa: PLC0415
    from vendors.inspection import inspect_deliverable  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        store = LocalStorage(folder)
        for entry in load_entries():
            content = entry.deliverable.read_bytes()
            store.save_bytes("file", content)
            inspection = inspect_deliverable(storage=store, key="file", size=len(content))
            file = Deliverable(
                listing=Listing(category=Category(slug=entry.kind.category)),
                object_key="file",
                file_size=len(content),
                format=inspection.format,
                technical=inspection.technical,
                entries=list(inspection.entries),
            )
            if made := previews_of_file(file, store):
                _keep(entry, made)
                sys.stdout.write(f"{entry.slug}: {len(made)} previews\n")


def _keep(entry: Any, made: list[Any]) -> None:
    from marketplace.demo.previews import INDEX, PREVIEWS  # noqa: PLC0415 - once Django is set up

    folder = entry.folder / PREVIEWS
    folder.mkdir(exist_ok=True)
    for number, (_, processed) in enumerate(made):
        (folder / str(number)).write_bytes(processed.content)
        for name, copy in processed.renditions.items():
            (folder / f"{number}.{name}").write_bytes(copy.content)
    records = [{"kind": kind, "contentType": processed.content_type, "details": processed.details} for kind, processed in made]
    (folder / INDEX).write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
