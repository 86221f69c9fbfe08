"""The admin of the review queue: submissions and the decisions on them."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Case, DateTimeField, QuerySet, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound
from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import CLAIMING, Decision, LastDecision, claiming, decision, service_decision
from marketplace.review.panels import Panel, history_panel
from marketplace.review.queues import QueueAdmin
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange
from marketplace.storage.responses import serve_segments

from ..models import ListingReview
from ..models.files import PreviewKind
from ..models.reviews import ReviewStatus
from ..selectors.reviews import former_pictures_of, submitted_files_of
from ..services import review as services
from .filters import QUEUE_FILTERS
from .forms import ApproveForm, RejectForm
from .review_page import review_context
from .takedowns import block_decision, takedown_decision

REVIEW = "catalog.review_listing"


def _pending(review: ListingReview) -> bool:
    return review.status == ReviewStatus.PENDING


@admin.register(ListingReview)
class ListingReviewAdmin(QueueAdmin):
    """Submissions, pending ones first, of these the oldest first."""

    waiting = {"status": ReviewStatus.PENDING}
    list_display = ("listing", "kind", "category", "store", "waiting_time", "submitted_at", "claim_mark", "status", "decided_by")
    list_filter = QUEUE_FILTERS
    list_select_related = ("listing__store", "listing__category", "claimed_by", "decided_by")
    row_related = ("listing__store__owner", "listing__approved_deliverable", "listing__candidate_deliverable")
    search_fields = ("listing__title", "listing__slug", "listing__store__name")
    search_help_text = "Title, slug or store"
    fields = ("listing", "kind", "status", "submitted_at", "submitted_by", "claimed_by", "note", "decided_at", "decided_by")
    decision_names = ("approve", "reject", *CLAIMING, "takedown", "block")
    owner = "listing__store__owner"
    noun, review_permission = "review", REVIEW
    page_decisions = {"approve": "a", "reject": "r"}
    kept_parameters = ("status__exact", "claimed", "category", "kind", "vendor", "days", "q")
    claim, take_over, release = claiming(REVIEW, _pending)
    list_template = "admin/catalog/queue.html"
    row_template = "admin/catalog/review.html"

    def open_to(self, viewer: User) -> QuerySet[ListingReview]:
        return super().open_to(viewer).exclude(submitted_by=viewer)

    def is_own(self, row: ListingReview, viewer: User) -> bool:
        """Tell whether the viewer owns or submitted it."""
        return viewer.pk in {row.listing.store.owner_id, row.submitted_by_id}

    @admin.display(description="Store", ordering="listing__store__name")
    def store(self, review: ListingReview) -> str:
        return review.listing.store.name

    @admin.display(description="Category", ordering="listing__category__name")
    def category(self, review: ListingReview) -> str:
        return review.listing.category.name

    def get_list_display(self, request: HttpRequest) -> Any:
        """Leave out the columns that are the same for all pending reviews."""
        shown = super().get_list_display(request)
        if request.GET.get("status__exact") not in {None, "", ReviewStatus.PENDING.value}:
            return shown
        return [column for column in shown if getattr(column, "__name__", column) not in {"status", "decided_by"}]

    def get_ordering(self, request: HttpRequest) -> Any:
        """Order pending reviews first, oldest first; the others newest first."""
        pending_since = Case(When(status=ReviewStatus.PENDING, then="submitted_at"), output_field=DateTimeField())
        return (pending_since.asc(nulls_last=True), "-submitted_at", "id")

    def get_urls(self) -> list[URLPattern]:
        specimen, picture = (self.admin_site.admin_view(allow_methods("GET")(view)) for view in (self.specimen, self.picture))
        return [
            path("<path:object_id>/specimen.css", specimen, name="catalog_listingreview_specimen"),
            path("<path:object_id>/pictures/<slug:digest>", picture, name="catalog_listingreview_picture"),
            *super().get_urls(),
        ]

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        # The page has a form instead, which applies several filters at once.
        changelist.has_filters = False
        return super().list_context(request, changelist) | {"queue_filters": changelist.filter_specs}

    def _visible_review(self, request: HttpRequest, object_id: str) -> ListingReview:
        if not self.has_view_permission(request):
            raise PermissionDenied
        review: ListingReview | None = self.get_object(request, object_id)
        if review is None or not self.has_view_permission(request, review):
            raise Http404
        return review

    def specimen(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Return the style sheet that declares the type tester's font; inline styles are not allowed by the content policy."""
        review = self._visible_review(request, object_id)
        preview = review.listing.previews.filter(kind=PreviewKind.FONT_SPECIMEN).first()
        face = "" if preview is None else f'@font-face{{font-family:"Specimen";src:url("{preview.url}");font-display:block}}\n'
        return HttpResponse(face, content_type="text/css; charset=utf-8", headers={"Cache-Control": "private, no-store"})

    def picture(self, request: HttpRequest, object_id: str, digest: str) -> HttpResponseBase:
        """Serve a picture of the listing that was replaced since an earlier submission."""
        review = self._visible_review(request, object_id)
        picture = former_pictures_of(review.listing).get(digest)
        if picture is None:
            raise Http404
        return serve_segments(
            request,
            segments=[StoredRange(default_storage, picture.object_key, 0, picture.size)],
            etag=picture.sha256,
            content_type="image/webp",
            headers={"Cache-Control": "private, no-store", "Content-Security-Policy": "default-src 'none'; sandbox"},
        )

    def panels(self, request: HttpRequest, subject: ListingReview) -> list[Panel]:
        return [history_panel(audit.history_of(subject.listing))]

    def last_decision(self, subject: ListingReview) -> LastDecision | None:
        """Return the decision from the review itself: audit entries are about its listing."""
        if subject.decided_at is None:
            return None
        actor = subject.listing.store.owner if subject.status == ReviewStatus.WITHDRAWN else subject.decided_by
        reason = "\n".join(filter(None, (subject.note, *(finding["message"] for finding in subject.findings))))
        return LastDecision(subject.status, subject.decided_at, actor, reason)

    def page_context(self, request: HttpRequest, subject: ListingReview) -> dict[str, Any]:
        context = super().page_context(request, subject) | {"heading": subject.listing.title}
        return context | review_context(subject, against=request.GET.get("against", ""))

    approve = service_decision(
        Decision(
            "Approve",
            REVIEW,
            "The listing is published, or the new file of a published one goes on sale. The vendor gets an email.",
            "The listing was approved.",
            form=ApproveForm,
            fields_template="admin/catalog/approve_fields.html",
            available=_pending,
        ),
        services.approve_listing,
        "review",
    )

    reject = service_decision(
        Decision(
            "Reject",
            REVIEW,
            "The vendor gets the findings by mail and can fix them and submit again.",
            "The listing was rejected.",
            form=RejectForm,
            available=_pending,
            fields_template="admin/catalog/finding_rows.html",
            danger=True,
        ),
        services.reject_listing,
        "review",
        fields=("findings", "note"),
    )

    @decision(takedown_decision(lambda review: review.listing))
    def takedown(self, review: ListingReview, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        services.takedown_listing(listing=review.listing, reason=cleaned_data["reason"], actor=actor)

    @decision(block_decision(submitted_files_of))
    def block(self, review: ListingReview, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        deliverable = submitted_files_of(review).first()
        if deliverable is None:
            raise NotFound
        services.block_deliverable(deliverable=deliverable, reason=cleaned_data["reason"], actor=actor)
