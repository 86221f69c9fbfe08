"""The endpoint that says who calls."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.views import ApiViewSet
from marketplace.core.access import ANY_CREDENTIAL

from ..serializers.caller import CallerResponse


class CallerViewSet(ApiViewSet):
    """The caller of the API."""

    access = {"retrieve": ANY_CREDENTIAL}

    @extend_schema(operation_id="getCaller", summary="See who you are", tags=["account"], responses=CallerResponse)
    def retrieve(self, request: Request) -> Response:
        """Return the user, the credential with its scopes, and the limits with what is used of them. It needs no scope."""
        return Response(CallerResponse(principal_of(request)).data)
