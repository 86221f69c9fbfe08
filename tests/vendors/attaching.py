"""Attaches files and previews to listings by the services, without an upload over HTTP."""

import hashlib
import zlib
from typing import Any

from catalog.models import Deliverable, Listing, Preview
from catalog.models.files import PreviewKind
from marketplace.storage import default_storage
from tests.files import makers
from vendors.inspection import Inspection, inspect_deliverable
from vendors.previews import ProcessedPreview
from vendors.services.files import attach_deliverable, attach_preview, new_deliverable_key
from vendors.uploads.receiving import Received


def attach(listing: Listing, content: bytes, *, inspected: bool = False) -> Deliverable:
    """Store a deliverable and attach it to the listing as it was read, as an upload does; what is in it is made up unless it is inspected."""
    store, key = default_storage, new_deliverable_key()
    store.save_bytes(key, content)
    inspection = Inspection("zip", {"format": "zip", "contentsByExtension": {"txt": 1}})
    if inspected:
        inspection = inspect_deliverable(storage=store, key=key, size=len(content))
    with Received(store, key, "a.zip", len(content), hashlib.sha256(content).hexdigest(), zlib.crc32(content)) as received:
        return attach_deliverable(listing=listing, received=received, inspection=inspection, actor=listing.store.owner)


def upload(listing: Listing, text: str = "1") -> None:
    """Attach an archive to the listing as it is now."""
    attach(Listing.objects.get(pk=listing.pk), makers.archive(a_txt=text))


def show(listing: Listing, slot: int = 0, content: bytes = b"") -> Preview:
    """Attach a gallery image, another one for each slot."""
    processed = ProcessedPreview(content or makers.picture(colour=slot), "image/webp", {}, {})
    return attach_preview(listing=listing, kind=PreviewKind.GALLERY, slot=slot, processed=processed, actor=listing.store.owner)


def play(listing: Listing, **details: Any) -> Preview:
    """Attach a sound."""
    processed = ProcessedPreview(b"x", "audio/wav", details, {})
    return attach_preview(listing=listing, kind=PreviewKind.AUDIO_PREVIEW, processed=processed, actor=listing.store.owner)
