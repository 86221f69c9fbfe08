"""The endpoint that tells whether an asset may be used for something."""

from typing import cast

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from catalog.api.views import NOT_MODIFIED, json_response
from developers.principals import Principal
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC
from marketplace.core.errors import NotFound, PreconditionFailed

from ...rights import library_owner
from ..rights import AssetRightsRecord, RightsQuery, asset_rights


class RightsViewSet(ApiViewSet):
    """Tells whether an asset may be used for something."""

    access = {"retrieve": PUBLIC}
    problems = {"retrieve": (NotFound, PreconditionFailed)}
    queries = {"retrieve": RightsQuery}

    @extend_schema(
        operation_id="getAssetRights",
        summary="Check whether an asset may be used for something",
        tags=["catalog"],
        responses={200: AssetRightsRecord, 304: NOT_MODIFIED},
    )
    def retrieve(self, request: Request, asset_id: str) -> HttpResponse:
        """Return whether an asset may be used for something, and the licence that permits it.

        With a credential that can read the library, the licences that the caller owns count first.
        """
        return json_response(asset_rights(asset_id, self.query(), library_owner(cast("Principal | None", request.auth))))
