"""The endpoints of top-ups."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.idempotency import IDEMPOTENCY_PARAMETER, REPLAYED_HEADER, idempotency_key
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import bearer_only
from marketplace.core.errors import IdempotencyConflict, IdempotencyKeyReused
from marketplace.core.scopes import Scope

from ...card_credit import top_up_of
from ...errors import (
    InvalidAmount,
    InvalidReturnUrl,
    PaymentPageClosed,
    PaymentProviderUnavailable,
    PaymentRefused,
    TooManyTopUps,
    TopUpLimitExceeded,
    TopUpUnavailable,
)
from .. import responses
from ..serializers.top_ups import TopUpBody, TopUpResponse


class TopUpViewSet(ApiViewSet):
    """The caller's top-ups."""

    access = dict.fromkeys(("ask", "retrieve"), bearer_only(Scope.WALLET_FUND))
    problems = {
        "ask": (
            InvalidAmount,
            InvalidReturnUrl,
            TopUpUnavailable,
            TopUpLimitExceeded,
            TooManyTopUps,
            PaymentProviderUnavailable,
            PaymentRefused,
            PaymentPageClosed,
            IdempotencyConflict,
            IdempotencyKeyReused,
        ),
    }

    @extend_schema(
        operation_id="requestTopUp",
        summary="Ask for a top-up",
        parameters=[IDEMPOTENCY_PARAMETER],
        request=TopUpBody,
        responses=TopUpResponse,
    )
    def ask(self, request: Request) -> Response:
        """Make a payment page on which the account's owner pays for credit. Nothing is credited before the provider confirms the payment."""
        key = idempotency_key(request)
        response, replayed = responses.top_up(principal_of(request), parse_body(TopUpBody, request), idempotency_key=key)
        return Response(response, headers={REPLAYED_HEADER: "true"} if replayed else {})

    @extend_schema(operation_id="getTopUp", summary="Get a top-up", responses=TopUpResponse)
    def retrieve(self, request: Request, top_up_id: str) -> Response:
        """Return one of the caller's top-ups with its current status."""
        return Response(TopUpResponse(top_up_of(principal_of(request).user, top_up_id)).data)
