"""Previews of the demo's files. `tests.demo_previews` made them and keeps them in `files/<slug>/previews`, so that a first start makes none."""

import json

from catalog.models.files import FilePreviewKind
from vendors.file_previews import POSTER, PreviewOfKind
from vendors.previews import ProcessedPreview, Rendition

from .entries import CatalogEntry

PREVIEWS, INDEX = "previews", "index.json"


def load_previews(entry: CatalogEntry) -> list[PreviewOfKind]:
    """Return the kept previews of an entry's file; an empty list if it has none."""
    folder = entry.folder / PREVIEWS
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
