"""Skills for agents: their archives, and listings that sell them as they are after an upload and an approval."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from catalog.models import FileFacts, Listing
from marketplace.storage import default_storage
from vendors.inspection import inspect_deliverable

from .shop import on_sale

FRONT = "name: kerning-helper\ndescription: Finds bad pairs.\n"


def skill_archive(
    files: Mapping[str, str | bytes] | None = None,
    *,
    front: str = FRONT,
    body: str = "# Use\n",
    members: Iterable[tuple[zipfile.ZipInfo, str]] = (),
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        # Of a fixed date, so that the same text is the same bytes a second later.
        for path, content in {"SKILL.md": f"---\n{front}---\n{body}", **(files or {})}.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
        for member, content in members:
            archive.writestr(member, content)
    return buffer.getvalue()


def skill_on_sale(content: bytes | None = None, **fields: Any) -> Listing:
    """Return a published listing of a skill, whose file was inspected."""
    content = content or skill_archive()
    listing = on_sale(content, **fields)
    file = listing.approved_deliverable
    assert file is not None
    found = inspect_deliverable(storage=default_storage, key=file.object_key, size=len(content))
    file.format, file.technical, file.entries = found.format, found.technical, found.entries
    file.save()
    FileFacts.objects.create(listing=listing, sha256=file.sha256, facts=found.facts)
    return listing


def free_skill(content: bytes | None = None, **fields: Any) -> Listing:
    return skill_on_sale(content, **{"base_price_minor": 0, "price_inr_minor": 0, **fields})
