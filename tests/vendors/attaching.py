"""Attaches files and images to listings by the services, without an upload over HTTP."""

import hashlib
import zlib

from catalog.models import Listing, Preview
from catalog.models.files import PreviewKind
from marketplace.storage import default_storage
from tests.files import makers
from vendors.inspection import Inspection
from vendors.previews import ProcessedPreview
from vendors.services.files import attach_deliverable, attach_preview, new_deliverable_key
from vendors.uploads.receiving import Received


def upload(listing: Listing, text: str = "1") -> None:
    """Attach a deliverable as an upload does; the upload itself is tried elsewhere."""
    content, store, key = makers.archive(a_txt=text), default_storage, new_deliverable_key()
    store.save_bytes(key, content)
    received = Received(store, key, "a.zip", len(content), hashlib.sha256(content).hexdigest(), zlib.crc32(content))
    inspection = Inspection("zip", {"format": "zip", "contentsByExtension": {"txt": 1}})
    attach_deliverable(listing=Listing.objects.get(pk=listing.pk), received=received, inspection=inspection, actor=listing.store.owner)


def show(listing: Listing, slot: int = 0) -> Preview:
    """Attach a gallery image as an upload does."""
    processed = ProcessedPreview(makers.picture(), "image/webp", {}, {})
    return attach_preview(listing=listing, kind=PreviewKind.GALLERY, slot=slot, processed=processed, actor=listing.store.owner)
