"""Previews that the service made of approved files: subsets of fonts, and animations."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from catalog.ai_use import usage_headers
from catalog.models import FilePreview
from catalog.models.files import FilePreviewKind
from marketplace.accounts.models import User
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange
from marketplace.storage.responses import serve_segments

TYPES = {FilePreviewKind.FONT_STYLE: "font/woff2", FilePreviewKind.ANIMATION: "image/webp"}
HEADERS = {
    # Opened as a page of its own, it runs and loads nothing; pages of other sites cannot show it.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Only browsers keep it: proxies would send it after a takedown.
    "Cache-Control": "private, max-age=3600",
}


@require_safe
def file_preview(request: HttpRequest, preview_id: uuid.UUID, rendition: str = "") -> HttpResponseBase:
    """Return a preview of the file on sale, or its still picture; of a listing that is not published only to its vendor and staff."""
    preview = FilePreview.objects.select_related("deliverable__listing__store").filter(pk=preview_id).first()
    if preview is None or not _may_see(request, preview) or (rendition and rendition not in preview.renditions):
        raise Http404
    whole: dict[str, Any] = {"key": preview.object_key, "size": preview.size, "sha256": preview.sha256}
    stored = preview.renditions[rendition] if rendition else whole
    return serve_segments(
        request,
        segments=[StoredRange(default_storage, stored["key"], 0, stored["size"])],
        etag=stored["sha256"],
        content_type=TYPES[FilePreviewKind(preview.kind)],
        headers=HEADERS | usage_headers(preview.deliverable.listing.ai_training),
    )


def _may_see(request: HttpRequest, preview: FilePreview) -> bool:
    listing = preview.deliverable.listing
    if listing.is_on_sale:
        return listing.approved_deliverable_id == preview.deliverable_id
    return isinstance(request.user, User) and (request.user.pk == listing.store.owner_id or request.user.may_enter_admin)
