"""The developers' endpoints: events of an app, and reports of leaked credentials, from anyone."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC, any_api_key
from marketplace.http.rate_limits import count_by_address

from ..principals import app_of
from ..services.leaks import LeakedSecret, report_leaks
from ..webhooks.listing import events_after
from .serializers import EventPageAnswer, EventQuery, LeakReportAnswer, LeakReportBody


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


class EventViewSet(ApiViewSet):
    """The events of the key's app."""

    access = {"list": any_api_key()}
    queries = {"list": EventQuery}

    @extend_schema(operation_id="listEvents", summary="List events", responses=EventPageAnswer)
    def list(self, request: Request) -> Response:
        """List the events of the last 30 days that the app's webhooks get, whether it has webhooks or not, oldest first.

        Events about orders and top-ups need the scopes that their webhooks need. No event is added before one that was listed.
        """
        query, app = self.query(), app_of(request)
        page = events_after(query.get("after"), app=app, scopes=app.scopes, limit=query["limit"])
        return Response(EventPageAnswer(page).data)
