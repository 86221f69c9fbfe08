"""The endpoint of approvals."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.scopes import Scope

from ...approval_queries import approval_for
from ..serializers.approvals import ApprovalResponse


class ApprovalViewSet(ApiViewSet):
    """Purchases that wait, or waited, for the wallet's owner."""

    access = {"retrieve": key_or_bearer(Scope.WALLET_SPEND)}

    @extend_schema(operation_id="getApproval", summary="Get an approval", responses=ApprovalResponse)
    def retrieve(self, request: Request, approval_id: str) -> Response:
        """Return a purchase that was asked for, with the owner's decision. An app sees its own, a user's own token all of the user's."""
        return Response(ApprovalResponse(approval_for(principal_of(request), approval_id)).data)
