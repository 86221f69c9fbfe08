"""The vendor application and its status."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.idempotency import idempotent
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet

from ...errors import StoreSlugTaken, VendorProfileExists, VendorProfileMissing
from ...selectors import profile_of
from ...services import profiles
from ..serializers.profiles import Application, ApplicationStatus, ProfileRecord
from .base import MANAGE


class ProfileViews(ApiViewSet):
    """The caller's vendor profile."""

    problems = {"apply": (VendorProfileExists, StoreSlugTaken), "status": (VendorProfileMissing,)}
    access = dict.fromkeys(problems, MANAGE)

    @extend_schema(operation_id="applyAsVendor", summary="Register a store", request=Application, responses=ProfileRecord)
    @idempotent
    def apply(self, request: Request) -> Response:
        """Create the caller's vendor profile. Approved developers and staff are approved at once; others are reviewed."""
        body = parse_body(Application, request)
        user = principal_of(request).user
        return Response(ProfileRecord(profiles.apply(user=user, actor=user, **body)).data)

    @extend_schema(operation_id="getVendorProfile", summary="Get the vendor profile", responses=ApplicationStatus)
    def status(self, request: Request) -> Response:
        """Return the caller's vendor profile, whatever its status."""
        return Response(ApplicationStatus(profile_of(principal_of(request).user)).data)
