"""Previews of the demo's files. They were made by the service and are kept in `files/<slug>/previews`, so that a first start makes none."""

import json
from pathlib import Path

from catalog.models.files import FilePreviewKind
from vendors.file_previews import POSTER, PreviewOfKind
from vendors.previews import ProcessedPreview, Rendition

from .entries import CatalogEntry

INDEX = "index.json"


def load_previews(entry: CatalogEntry) -> list[PreviewOfKind]:
    """Return the kept previews of an entry's file; none of a file of which none are made."""
    folder = _folder_of(entry)
    if not folder.exists():
        return []
    made: list[PreviewOfKind] = []
    for number, record in enumerate(json.loads((folder / INDEX).read_text(encoding="utf-8"))):
        content_type, details = record["contentType"], record["details"]
        still = folder / f"{number}.{POSTER}"
        renditions = {}
        if still.exists():
            renditions[POSTER] = Rendition(still.read_bytes(), content_type, details["width"], details["height"])
        processed = ProcessedPreview((folder / str(number)).read_bytes(), content_type, details, renditions)
        made.append((FilePreviewKind(record["kind"]), processed))
    return made


def keep_previews(entry: CatalogEntry, made: list[PreviewOfKind]) -> None:
    """Write the previews of an entry's file to its folder."""
    folder = _folder_of(entry)
    folder.mkdir(exist_ok=True)
    for number, (_, processed) in enumerate(made):
        (folder / str(number)).write_bytes(processed.content)
        for name, copy in processed.renditions.items():
            (folder / f"{number}.{name}").write_bytes(copy.content)
    records = [{"kind": kind, "contentType": processed.content_type, "details": processed.details} for kind, processed in made]
    (folder / INDEX).write_text(json.dumps(records, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _folder_of(entry: CatalogEntry) -> Path:
    return entry.folder / "previews"
