"""The endpoints of refund requests, and of the evidence of an order."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.idempotency import idempotent
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import KEY_KINDS, key_or_bearer
from marketplace.core.scopes import Scope

from ...errors import RefundRequested, RefundUnavailable
from ...evidence import Reader, evidence_of, signed_evidence
from ...models import RefundRequest
from ...selectors import order_of
from ...services.refund_requests import request_refund
from ..serializers.refund_requests import EvidenceResponse, RefundRequestBody, RefundRequestList, RefundRequestResponse

_READ, _SPEND = key_or_bearer(Scope.ACCOUNT_READ), key_or_bearer(Scope.WALLET_SPEND)


class RefundRequestViewSet(ApiViewSet):
    """The caller's requests for refunds."""

    access = {"ask": _SPEND, "list": _READ, "evidence": _READ}
    problems = {"ask": (RefundUnavailable, RefundRequested)}

    @extend_schema(operation_id="requestRefund", summary="Ask for a refund", request=RefundRequestBody, responses=RefundRequestResponse)
    @idempotent
    def ask(self, request: Request, order_id: str) -> Response:
        """Ask for a refund of a purchase, once.

        It is refunded at once if it is recent, the holder of its licence has not downloaded the asset, and the buyer has not asked for a refund of it
        before; else the vendor answers. An app that acts for another user can ask for refunds of what it bought.
        """
        principal = principal_of(request)
        order = order_of(principal.user, order_id)
        # A key acts for its owner, as does a personal token, which has no app; the access token of an app acts for its user.
        app = None if principal.kind in KEY_KINDS else principal.app
        made = request_refund(order=order, **parse_body(RefundRequestBody, request), actor=principal.user, app=app)
        return Response(RefundRequestResponse(made).data)

    @extend_schema(operation_id="listRefundRequests", summary="Get the refund request", responses=RefundRequestList)
    def list(self, request: Request, order_id: str) -> Response:
        """Return the request for a refund of a purchase, if there is one."""
        found = RefundRequest.objects.filter(order=order_of(principal_of(request).user, order_id))
        return Response(RefundRequestList({"items": found}).data)

    @extend_schema(operation_id="getEvidence", summary="Get the signed evidence", responses=EvidenceResponse)
    def evidence(self, request: Request, order_id: str) -> Response:
        """Return everything about a purchase in one signed document, which anyone can verify offline."""
        return Response(signed_evidence(evidence_of(order_of(principal_of(request).user, order_id), Reader.BUYER)))
