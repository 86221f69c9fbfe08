"""The endpoint of signed download links."""

from http import HTTPStatus

from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request

from catalog.ai_use import usage_headers
from catalog.api.views import NOT_MODIFIED
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC
from marketplace.core.errors import RangeNotSatisfiable
from marketplace.storage import default_storage
from marketplace.storage.responses import serve_segments

from ... import bounds
from ...errors import FileBlocked, LicenseSuspended, LinkExpired, LinkInvalid, LinkRevoked
from ...models import DownloadLink
from ...services.links import open_link, record_download
from ...services.packages import CONTENT_TYPE, package_parts

_DELIVERING = (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.FOUND)


class PackageViewSet(ApiViewSet):
    """The route that download links lead to: the token in it is the permission."""

    access = {"fetch": PUBLIC}
    refuses_unknown_parameters = False
    problems = {"fetch": (LinkInvalid, LinkExpired, LinkRevoked, LicenseSuspended, FileBlocked, RangeNotSatisfiable)}

    @extend_schema(
        operation_id="downloadPackage",
        summary="Download a package",
        parameters=[
            OpenApiParameter("token", str, OpenApiParameter.PATH, description="As given in downloadUrl."),
            OpenApiParameter("Range", str, OpenApiParameter.HEADER, description="A byte range, to resume an interrupted download."),
            OpenApiParameter(
                "If-Range",
                str,
                OpenApiParameter.HEADER,
                description="The ETag of the part you have; if the file has changed, it is sent from the start.",
            ),
        ],
        responses={
            (HTTPStatus.OK, CONTENT_TYPE): OpenApiTypes.BINARY,
            (HTTPStatus.PARTIAL_CONTENT, CONTENT_TYPE): OpenApiTypes.BINARY,
            HTTPStatus.NOT_MODIFIED: NOT_MODIFIED,
            HTTPStatus.FOUND: OpenApiResponse(description="The file store serves it, at the address in Location, for at most 30 seconds."),
        },
    )
    def fetch(self, request: Request, token: str) -> HttpResponseBase:
        """Download the package: a zip with the asset's original file, README.txt and LICENSE.txt."""
        link = open_link(token=token)
        if request.method == "HEAD":
            # The store's address is signed for GET alone.
            return _serve(request, link)
        response = _redirect_to_store(request, link) or _serve(request, link)
        if response.status_code in _DELIVERING:
            record_download(link=link, byte_range=request.headers.get("Range", ""))
        return response


def _redirect_to_store(request: Request, link: DownloadLink) -> HttpResponse | None:
    """Return a redirect to the file store, None if the service itself must send the package."""
    if not link.package.object_key:
        return None
    condition = request.headers.get("If-Range")
    if condition is not None and condition != _etag_at_store(link.package.object_key):
        # Not every store supports If-Range; without it, a part of another file could be sent.
        return None
    # Not beyond the link's expiry; the store counts whole seconds.
    left = int((link.expires_at - timezone.now()).total_seconds())
    if left < 1:
        raise LinkExpired
    seconds = min(bounds.PRESIGNED_LINK_SECONDS, left)
    url = default_storage.presigned_url(link.package.object_key, seconds=seconds, filename=link.file_name, content_type=CONTENT_TYPE)
    return None if url is None else HttpResponse(status=HTTPStatus.FOUND, headers={"Location": url, **_headers(link)})


def _headers(link: DownloadLink) -> dict[str, str]:
    return {"Cache-Control": "private, no-store", **usage_headers(link.licence.ai_training)}


def _etag_at_store(key: str) -> str | None:
    try:
        return default_storage.etag(key)
    except FileNotFoundError:
        return None


def _serve(request: Request, link: DownloadLink) -> HttpResponseBase:
    return serve_segments(
        request._request,
        segments=package_parts(link.package),
        etag=link.package.sha256,
        content_type=CONTENT_TYPE,
        headers=_headers(link),
        filename=link.file_name,
        inline=False,
    )
