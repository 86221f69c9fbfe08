"""The developers' endpoints: reports of leaked credentials, from anyone."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC
from marketplace.http.rate_limits import count_by_address

from ..services.leaks import LeakedSecret, report_leaks
from .serializers import LeakReportAnswer, LeakReportBody


class LeakViewSet(ApiViewSet):
    """Takes reports of secret scanners."""

    access = {"report": PUBLIC}

    @extend_schema(
        operation_id="reportLeakedCredentials", summary="Report leaked keys and tokens", request=LeakReportBody, responses=LeakReportAnswer
    )
    def report(self, request: Request) -> Response:
        """Report keys and tokens found in public. Valid ones are revoked at once, and their owners get a mail.

        The response is the same whether the credentials exist or not.
        """
        count_by_address(request, "leak_reports")
        body = parse_body(LeakReportBody, request)
        report_leaks(findings=[LeakedSecret(found["value"], found["url"]) for found in body["credentials"]])
        return Response(LeakReportAnswer({"received": len(body["credentials"])}).data, headers={"Cache-Control": "no-store"})
