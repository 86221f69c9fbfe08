"""The caller's store: its texts and its pictures."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models.files import StorePictureKind
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.core.errors import NotFound

from ...errors import FileRejected, UploadIncomplete
from ...form_uploads import receive_store_picture
from ...services.profiles import update_store
from ...services.store_pictures import remove_store_picture
from ..serializers.profiles import ApplicationStatus, StoreChanges, StorePictureRecord
from .base import MANAGE, VendorViewSet
from .files import multipart_form

UPLOADS, REMOVALS = ("upload_logo", "upload_banner"), ("remove_logo", "remove_banner")
PICTURE_FORM = multipart_form("JPG, PNG or WebP, up to 20 MB.")


class StoreViews(VendorViewSet):
    """The texts, the logo and the banner of the caller's store."""

    problems = {
        "change": (),
        **dict.fromkeys(UPLOADS, (UploadIncomplete, FileRejected)),
        **dict.fromkeys(REMOVALS, (NotFound,)),
    }
    access = dict.fromkeys(problems, MANAGE)

    @extend_schema(operation_id="updateStore", summary="Change the store", request=StoreChanges, responses=ApplicationStatus)
    def change(self, request: Request) -> Response:
        """Change the name and the description of the store. Its slug cannot be changed."""
        profile = update_store(profile=self.profile, **parse_body(StoreChanges, request), actor=self.user)
        return Response(ApplicationStatus(profile).data)

    @extend_schema(operation_id="uploadStoreLogo", summary="Upload the store's logo", request=PICTURE_FORM, responses=StorePictureRecord)
    def upload_logo(self, request: Request) -> Response:
        """Upload the logo that the store's page shows; it is scaled down to at most 1920 pixels. Replaces an existing one."""
        return self._upload(request, StorePictureKind.LOGO)

    @extend_schema(operation_id="removeStoreLogo", summary="Remove the store's logo", request=None, responses={200: StorePictureRecord})
    def remove_logo(self, request: Request) -> Response:
        """Remove the logo for good. The response is its last record."""
        return self._remove(request, StorePictureKind.LOGO)

    @extend_schema(
        operation_id="uploadStoreBanner", summary="Upload the store's banner", request=PICTURE_FORM, responses=StorePictureRecord
    )
    def upload_banner(self, request: Request) -> Response:
        """Upload the wide picture at the top of the store's page; it is scaled down to at most 1920 pixels. Replaces an existing one."""
        return self._upload(request, StorePictureKind.BANNER)

    @extend_schema(operation_id="removeStoreBanner", summary="Remove the store's banner", request=None, responses={200: StorePictureRecord})
    def remove_banner(self, request: Request) -> Response:
        """Remove the banner for good. The response is its last record."""
        return self._remove(request, StorePictureKind.BANNER)

    def _upload(self, request: Request, kind: StorePictureKind) -> Response:
        picture = receive_store_picture(request._request, self.profile, kind, self.user)
        return Response(StorePictureRecord(picture).data)

    def _remove(self, request: Request, kind: StorePictureKind) -> Response:
        parse_body(EmptyBody, request)
        return Response(StorePictureRecord(remove_store_picture(profile=self.profile, kind=kind, actor=self.user)).data)
