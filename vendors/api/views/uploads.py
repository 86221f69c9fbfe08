"""Resumable uploads of deliverables, by the tus protocol."""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Listing
from catalog.services.transitions import require_etag
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.core.errors import PreconditionFailed
from marketplace.core.ids import parse_id

from ...errors import (
    FileRejected,
    ListingLocked,
    UnapprovedStorageFull,
    UploadConflict,
    UploadFinishing,
    UploadUnfinished,
)
from ...models import Upload
from ...selectors import listing_of, unfinished_uploads_of_vendor, upload_of
from ...services import uploads
from ...services.files import ensure_uploadable
from ...uploads.receiving import receive_part, upload_slot
from .. import tus
from ..conditions import documents_if_match, required_etags
from ..serializers.files import DeliverableRecord
from ..serializers.paging import PageQuery
from ..serializers.uploads import UploadPage, UploadRecord
from .base import MANAGE, VendorViewSet


class UploadViews(VendorViewSet):
    """Resumable uploads: their progress, and finishing one."""

    problems = {
        "list": (),
        "retrieve": (),
        "finish": (
            ListingLocked,
            PreconditionFailed,
            UnapprovedStorageFull,
            UploadConflict,
            UploadFinishing,
            UploadUnfinished,
            FileRejected,
        ),
    }
    access = dict.fromkeys(problems, MANAGE)
    queries = {"list": PageQuery}

    @extend_schema(operation_id="listUploads", summary="List the unfinished uploads", responses=UploadPage)
    def list(self, request: Request) -> Response:
        """List the resumable uploads that can be continued, newest first."""
        return self.page_of(unfinished_uploads_of_vendor(self.profile), UploadRecord)

    @extend_schema(operation_id="getUpload", summary="Get a resumable upload", responses=UploadRecord)
    def retrieve(self, request: Request, upload_id: str) -> Response:
        """Return how much of a resumable upload has arrived."""
        return Response(UploadRecord(upload_of(self.profile, parse_id(upload_id))).data)

    @documents_if_match
    @extend_schema(operation_id="finishUpload", summary="Finish a resumable upload", request=None, responses=DeliverableRecord)
    def finish(self, request: Request, upload_id: str) -> Response:
        """Check the uploaded file and make it the listing's file, as an upload in one request does. Repeated, it gives the same response."""
        upload = upload_of(self.profile, parse_id(upload_id))
        upload.listing.required_etags = required_etags(request)
        if upload.deliverable is None:
            require_etag(upload.listing, upload.listing.required_etags)
        parse_body(EmptyBody, request)
        with upload_slot(request._request):
            deliverable = uploads.finish_upload(upload=upload, actor=self.user)
        return Response(DeliverableRecord(deliverable).data)


@extend_schema(exclude=True)
class TusViews(VendorViewSet):
    """The tus protocol. Its requests and responses are headers, so the OpenAPI document leaves it out."""

    access = dict.fromkeys(("create", "progress", "append", "terminate"), MANAGE)
    listing: Listing
    upload: Upload

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Treat a POST as the method in X-HTTP-Method-Override, which the protocol provides for networks that block other methods."""
        wanted = request.headers.get("X-HTTP-Method-Override")
        if request.method == "POST" and wanted in {"PATCH", "DELETE"}:
            request.method = wanted
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the credential, then whose listing or upload it is, then the version of the protocol."""
        super().initial(request, *args, **kwargs)
        if self.action not in self.access:
            return
        if "upload_id" in kwargs:
            self.upload = upload_of(self.profile, parse_id(kwargs["upload_id"]))
        else:
            self.listing = listing_of(self.profile, kwargs["asset_id"])
        tus.check_version(request)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add the version of the protocol; a response to OPTIONS lists all that is supported."""
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in (tus.OPTIONS_HEADERS if request.method == "OPTIONS" else tus.VERSION_HEADER).items():
            response[name] = value
        return response

    def create(self, request: Request, asset_id: str) -> Response:
        """Begin an upload."""
        ensure_uploadable(self.listing)
        size, filename = tus.upload_length(request), tus.upload_filename(request)
        upload = uploads.begin_upload(listing=self.listing, filename=filename, size=size, actor=self.user)
        return Response(UploadRecord(upload).data, status=HTTPStatus.CREATED, headers={**tus.state_headers(upload), "Location": upload.url})

    def progress(self, request: Request, upload_id: str) -> Response:
        """Tell how much has arrived."""
        return Response(headers=tus.state_headers(self.upload))

    def append(self, request: Request, upload_id: str) -> Response:
        """Receive a part."""
        upload = self.upload
        offset, size, checksum = tus.number_in(request, "Upload-Offset", minimum=0), tus.part_size(request), tus.part_checksum(request)
        uploads.check_part(upload=upload, offset=offset, size=size)
        if size:
            key = uploads.new_part_key(upload=upload)
            receive_part(request._request, key=key, size=size, checksum=checksum)
            upload = uploads.append_part(upload=upload, offset=offset, key=key, size=size, actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT, headers=tus.state_headers(upload))

    def terminate(self, request: Request, upload_id: str) -> Response:
        """Delete the upload."""
        uploads.discard_upload(upload=self.upload, actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)
