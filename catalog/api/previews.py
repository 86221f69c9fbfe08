"""GET previews/{id}: public samples, served so that no script in them runs on our origin."""

import time
import uuid
from typing import Any, cast

from django.contrib.auth import get_user
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.api.views import ApiViewSet
from marketplace.core.access import BEARER_KINDS, PUBLIC
from marketplace.core.errors import DependencyUnavailable, InvalidInput, NotFound, RangeNotSatisfiable
from marketplace.core.scopes import Scope
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange
from marketplace.storage.responses import serve_segments

from ..ai_use import usage_headers
from ..browsing import PreviewQuery
from ..models import Preview, StorePicture
from ..selectors.listings import preview_by_id
from .public import PRIVATE, has_credential, shared_cache_headers

# File extensions of previews by media type. Any other type is served as application/octet-stream.
EXTENSIONS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "font/woff": "woff",
    "font/woff2": "woff2",
    "audio/mpeg": "mp3",
    "audio/aac": "aac",
    "audio/mp4": "m4a",
    "audio/wav": "wav",
}
PROTECTIVE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # Opened as a page of its own, it runs and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


class PreviewViewSet(ApiViewSet):
    """Public samples of assets."""

    access = {"retrieve": PUBLIC}
    problems = {"retrieve": (InvalidInput, NotFound, RangeNotSatisfiable, DependencyUnavailable)}
    queries = {"retrieve": PreviewQuery}

    @extend_schema(
        operation_id="getPreview",
        summary="Get a preview",
        tags=["catalog"],
        parameters=[OpenApiParameter("preview_id", str, OpenApiParameter.PATH)],
        responses={
            **{
                (200, media_type): OpenApiResponse(OpenApiTypes.BINARY, description="The image, font or sound, with its own type.")
                for media_type in EXTENSIONS
            },
            **{(206, media_type): OpenApiResponse(OpenApiTypes.BINARY, description="The requested range.") for media_type in EXTENSIONS},
            304: OpenApiResponse(description="If-None-Match names the present ETag."),
        },
    )
    def retrieve(self, request: Request, preview_id: str) -> HttpResponseBase:
        """Return a preview, or a picture of a store. Those of unpublished assets and closed stores are returned to the owner and staff only."""
        began = time.monotonic()
        size = self.query().get("size")
        preview = preview_by_id(preview_id)
        public = preview.is_public
        if not public and not _may_see(_viewer(request), preview.store.owner_id):
            raise NotFound
        file = _file_arguments(preview, size)
        if not public:
            caching = {"Cache-Control": "private, no-store"}
        elif has_credential(request._request):
            caching = {"Cache-Control": PRIVATE}
        else:
            # No longer than other catalog responses, so that a takedown takes effect.
            caching = shared_cache_headers(time.monotonic() - began)
        usage = usage_headers(preview.listing.ai_training) if isinstance(preview, Preview) else {}
        return serve_segments(request._request, headers=PROTECTIVE_HEADERS | caching | usage, **file)


def _viewer(request: Request) -> User | None:
    """Return the user of the session or bearer token; None for an API key or a token without the scope `vendor:manage`."""
    principal = cast("Principal | None", request.auth)
    if principal is not None:
        return principal.user if principal.kind in BEARER_KINDS and Scope.VENDOR_MANAGE in principal.scopes else None
    # Without a credential, DRF has replaced the session's user by an anonymous one.
    session_user = get_user(request._request)
    return session_user if isinstance(session_user, User) else None


def _may_see(viewer: User | None, owner_id: uuid.UUID | int) -> bool:
    return viewer is not None and (viewer.pk == owner_id or viewer.may_enter_admin)


def _file_arguments(preview: Preview | StorePicture, size: str | None) -> dict[str, Any]:
    """Return the arguments of `serve_segments` for the preview, or for its smaller copy if there is one."""
    rendition = preview.renditions.get(size) if size else None
    key, length = (rendition["key"], rendition["size"]) if rendition else (preview.object_key, preview.size)
    stored_type = rendition["contentType"] if rendition else preview.content_type
    content_type = stored_type if stored_type in EXTENSIONS else "application/octet-stream"
    extension = EXTENSIONS.get(stored_type, "bin")
    return {
        "segments": [StoredRange(default_storage, key, 0, length)],
        "etag": rendition["sha256"] if rendition else preview.sha256,
        "content_type": content_type,
        "filename": f"{preview.kind.lower()}-{preview.id}.{extension}",
    }
