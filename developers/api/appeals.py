"""The endpoints of appeals against decisions on listings, stores, apps and applications."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.idempotency import idempotent
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import bearer_only
from marketplace.core.database import row_by_id
from marketplace.core.errors import NotFound
from marketplace.core.scopes import Scope
from marketplace.review.appeals import appeals_of, decision_to_appeal, submit_appeal
from marketplace.review.errors import AppealExists, AppealUnavailable

from ..principals import principal_of
from .serializers import AppealBody, AppealPage, AppealQuery, OneAppeal

# Apps can't have this scope: what was decided about a user is nobody else's business.
_OWN = bearer_only(Scope.VENDOR_MANAGE)
_APPEAL_ID = OpenApiParameter("appeal_id", OpenApiTypes.STR, OpenApiParameter.PATH, description="Id of the appeal.")


class AppealViewSet(ApiViewSet):
    """The caller's appeals."""

    access = dict.fromkeys(("list", "submit", "retrieve"), _OWN)
    problems = {"submit": (NotFound, AppealExists, AppealUnavailable)}
    queries = {"list": AppealQuery}

    @extend_schema(operation_id="listAppeals", summary="List your appeals", responses=AppealPage)
    def list(self, request: Request) -> Response:
        """List the caller's appeals, newest first."""
        query, rows = self.query(), appeals_of(principal_of(request).user)
        start = (query["page"] - 1) * query["limit"]
        page = rows[start : start + query["limit"]]
        return Response(AppealPage({"total": rows.count(), "page": query["page"], "items": page}).data)

    @extend_schema(operation_id="submitAppeal", summary="Appeal a decision", request=AppealBody, responses=OneAppeal)
    @idempotent
    def submit(self, request: Request) -> Response:
        """Appeal the last decision on a listing, the store, an app or the developer application.

        That is a rejection, a takedown, a suspension or the withdrawal of an approval.

        A decision can be appealed once. Another reviewer decides again, or the same one if there is no other.
        """
        body, user = parse_body(AppealBody, request), principal_of(request).user
        decision = decision_to_appeal(kind=body["kind"], subject_id=body["subjectId"], user=user)
        return Response(OneAppeal(submit_appeal(decision=decision, text=body["text"], actor=user)).data)

    @extend_schema(operation_id="getAppeal", summary="Get an appeal", parameters=[_APPEAL_ID], responses=OneAppeal)
    def retrieve(self, request: Request, appeal_id: str) -> Response:
        """Return one of the caller's appeals, with its place in the queue while it waits."""
        appeal = row_by_id(appeals_of(principal_of(request).user), appeal_id)
        if appeal is None:
            raise NotFound
        return Response(OneAppeal(appeal).data)
