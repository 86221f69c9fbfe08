"""Upload operations. Every check that does not need the body is made before the body is read."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models.files import PreviewKind
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.core.errors import PreconditionFailed
from marketplace.core.ids import parse_id

from ...errors import (
    FileRejected,
    ListingLocked,
    ThumbnailNeeded,
    UnapprovedStorageFull,
    UploadConflict,
    UploadIncomplete,
)
from ...form_uploads import receive_deliverable, receive_preview
from ...selectors import files_of, listing_of
from ...services import files
from ...services.listings import ensure_editable
from ...services.pictures import update_picture
from ..conditions import documents_if_match
from ..serializers.files import DeliverableRecord, FilePage, FileVersion, GallerySlot, PicturePatch, PreviewRecord
from ..serializers.paging import PageQuery
from .base import MANAGE, VendorViewSet

UPLOAD_PROBLEMS = (
    ListingLocked,
    PreconditionFailed,
    UploadIncomplete,
    FileRejected,
    UnapprovedStorageFull,
)


def multipart_form(description: str) -> dict[str, Any]:
    """Return the OpenAPI shape of a form with one file."""
    file = {"type": "string", "format": "binary", "description": description}
    return {"multipart/form-data": {"type": "object", "properties": {"file": file}, "required": ["file"], "additionalProperties": False}}


class FileViews(VendorViewSet):
    """The deliverable and the previews of a listing."""

    problems = {
        "upload_file": (*UPLOAD_PROBLEMS, UploadConflict),
        "list_files": (),
        "upload_font_specimen": UPLOAD_PROBLEMS,
        "upload_gallery_image": UPLOAD_PROBLEMS,
        "upload_audio_preview": UPLOAD_PROBLEMS,
        "discard_file": (ListingLocked, PreconditionFailed),
        "update_picture": (ListingLocked, PreconditionFailed, ThumbnailNeeded),
        "remove_preview": (ListingLocked, PreconditionFailed, ThumbnailNeeded),
    }
    access = dict.fromkeys(problems, MANAGE)
    queries = {"list_files": PageQuery, "upload_gallery_image": GallerySlot}

    @documents_if_match
    @extend_schema(
        operation_id="uploadFile",
        summary="Upload the deliverable",
        request=multipart_form("What buyers get: an archive such as .zip or .tar, a font, an image or a sound, up to 5 GB."),
        responses=DeliverableRecord,
    )
    def upload_file(self, request: Request, asset_id: str) -> Response:
        """Upload the file that buyers get; it is checked and inspected. Buyers of a published listing get the reviewed file until the new one is approved."""
        listing = self.listing_to_change(request, asset_id)
        return Response(DeliverableRecord(receive_deliverable(request._request, listing, self.user)).data)

    @documents_if_match
    @extend_schema(operation_id="discardFile", summary="Discard the new file", request=None, responses={200: DeliverableRecord})
    def discard_file(self, request: Request, asset_id: str) -> Response:
        """Discard the uploaded file that no reviewer has approved; what buyers get stays. The response is its last record."""
        listing = self.listing_to_change(request, asset_id)
        files.ensure_uploadable(listing)
        parse_body(EmptyBody, request)
        return Response(DeliverableRecord(files.discard_candidate(listing=listing, actor=self.user)).data)

    @extend_schema(operation_id="listFiles", summary="List the files of a listing", responses=FilePage)
    def list_files(self, request: Request, asset_id: str) -> Response:
        """List all approved versions, blocked ones too, and the file that is not approved, newest first. Approved versions are kept, because buyers may download them."""
        listing = listing_of(self.profile, asset_id)
        return self.page_of(files_of(listing), FileVersion, listing=listing)

    @documents_if_match
    @extend_schema(
        operation_id="uploadFontSpecimen",
        summary="Upload the font specimen",
        request=multipart_form("WOFF2 or WOFF, up to 20 MB."),
        responses=PreviewRecord,
    )
    def upload_font_specimen(self, request: Request, asset_id: str) -> Response:
        """Upload the web font for the type tester in the storefront. Replaces an existing one."""
        return self._upload_preview(request, asset_id, PreviewKind.FONT_SPECIMEN)

    @documents_if_match
    @extend_schema(
        operation_id="uploadGalleryImage",
        summary="Upload a gallery image",
        request=multipart_form("JPG, PNG or WebP, up to 20 MB."),
        responses=PreviewRecord,
    )
    def upload_gallery_image(self, request: Request, asset_id: str) -> Response:
        """Upload an image to a gallery slot. Replaces an existing one. Slot 0 is the thumbnail on the card."""
        return self._upload_preview(request, asset_id, PreviewKind.GALLERY)

    @documents_if_match
    @extend_schema(
        operation_id="uploadAudioPreview",
        summary="Upload the audio preview",
        request=multipart_form("MP3, AAC or WAV, up to 20 MB."),
        responses=PreviewRecord,
    )
    def upload_audio_preview(self, request: Request, asset_id: str) -> Response:
        """Upload the audio preview. Replaces an existing one."""
        return self._upload_preview(request, asset_id, PreviewKind.AUDIO_PREVIEW)

    @documents_if_match
    @extend_schema(
        operation_id="updateGalleryImage", summary="Describe or move a gallery image", request=PicturePatch, responses=PreviewRecord
    )
    def update_picture(self, request: Request, asset_id: str, preview_id: str) -> Response:
        """Say what an image shows, or move it to another slot; the image there takes its place."""
        listing = self.listing_to_change(request, asset_id)
        ensure_editable(listing)
        changes = parse_body(PicturePatch, request)
        picture = update_picture(listing=listing, preview_id=parse_id(preview_id), actor=self.user, **changes)
        return Response(PreviewRecord(picture).data)

    @documents_if_match
    @extend_schema(operation_id="removePreview", summary="Remove a preview", request=None, responses={200: PreviewRecord})
    def remove_preview(self, request: Request, asset_id: str, preview_id: str) -> Response:
        """Remove an image, the specimen or the sound for good. The response is its last record."""
        listing = self.listing_to_change(request, asset_id)
        ensure_editable(listing)
        parse_body(EmptyBody, request)
        return Response(PreviewRecord(files.remove_preview(listing=listing, preview_id=parse_id(preview_id), actor=self.user)).data)

    def _upload_preview(self, request: Request, asset_id: str, kind: PreviewKind) -> Response:
        listing = self.listing_to_change(request, asset_id)
        ensure_editable(listing)
        slot = self.query()["slot"] if kind == PreviewKind.GALLERY else 0
        preview = receive_preview(request._request, listing, kind, self.user, slot=slot)
        return Response(PreviewRecord(preview).data)
