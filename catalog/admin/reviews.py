"""The review queue: claim, look, decide, next."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Case, DateTimeField, QuerySet, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST, require_safe
from unfold.enums import ActionVariant

from marketplace.accounts.models import Tier, User
from marketplace.core.admin import Decision, NoForm, Panel, QueueAdmin, decision, staff_of
from marketplace.core.claims import is_claimed
from marketplace.core.errors import NotFound

from ..models import ListingReview
from ..models.files import PreviewKind
from ..models.listings import ListingStatus
from ..models.reviews import ReviewKind, ReviewStatus
from ..selectors.reviews import deliverable_under_review, open_to
from ..services import review as services
from .case import case_of
from .filters import QUEUE_FILTERS
from .forms import ApproveForm, RejectForm

REVIEW = "catalog.review_listing"
TAKEDOWN = "catalog.takedown_listing"
BLOCK = "catalog.block_deliverable"
# Decisions that the review page itself has forms for.
ON_THE_PAGE = {"approve", "reject", "claim", "take_over", "release"}
NEXT = "next"


def _pending(review: ListingReview) -> bool:
    return review.status == ReviewStatus.PENDING


def _may_block(review: ListingReview) -> bool:
    deliverable = deliverable_under_review(review)
    return deliverable is not None and deliverable.blocked_at is None


@admin.register(ListingReview)
class ListingReviewAdmin(QueueAdmin):
    """Submissions, those that wait first and the oldest of them on top."""

    waiting = {"status": ReviewStatus.PENDING}
    list_display = ("listing", "kind", "category", "store", "waiting_time", "submitted_at", "claim_mark", "status", "decided_by")
    list_filter = QUEUE_FILTERS
    list_select_related = ("listing__store", "listing__category", "claimed_by", "decided_by")
    search_fields = ("listing__title", "listing__slug", "listing__store__name")
    search_help_text = "Title, slug or store"
    fields = ("listing", "kind", "status", "submitted_at", "submitted_by", "claimed_by", "note", "decided_at", "decided_by")
    actions_detail = ("approve", "reject", "claim", "take_over", "release", "takedown", "block")
    list_before_template = "admin/catalog/queue.html"
    change_form_outer_after_template = "admin/catalog/review.html"

    @admin.display(description="Store", ordering="listing__store__name")
    def store(self, review: ListingReview) -> str:
        """Return whose listing it is."""
        return review.listing.store.name

    @admin.display(description="Category", ordering="listing__category__name")
    def category(self, review: ListingReview) -> str:
        """Return the shelf."""
        return review.listing.category.name

    @admin.display(description="Claimed by", ordering="claimed_at")
    def claim_mark(self, review: ListingReview) -> str:
        """Return who is at it now."""
        return str(review.claimed_by) if _pending(review) and is_claimed(review) else "-"

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Leave out what is the same for everything that waits."""
        everything_waits = request.GET.get("status__exact") in {None, "", ReviewStatus.PENDING.value}
        return tuple(name for name in self.list_display if not (everything_waits and name in {"status", "decided_by"}))

    def get_ordering(self, request: HttpRequest) -> Any:
        """Order what waits before the rest, the oldest first; of the rest, the newest first."""
        since = Case(When(status=ReviewStatus.PENDING, then="submitted_at"), output_field=DateTimeField())
        return (since.asc(nulls_last=True), "-submitted_at", "id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ListingReview]:
        """Return the cases with what a page about one shows of them."""
        related = ("listing__store__owner", "listing__category", "listing__live_deliverable", "claimed_by", "decided_by", "submitted_by")
        return super().get_queryset(request).select_related(*related)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Show none of Django's fields: the page has its own."""
        return []

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """Return the buttons beside those that are on the page."""
        return [button for button in super().get_actions_detail(request, object_id) if button.method.__name__ not in ON_THE_PAGE]

    def get_urls(self) -> list[URLPattern]:
        """Add the way to the next submission, and the style sheet that names a specimen."""
        own = [
            path("next/", self.admin_site.admin_view(require_POST(self.take_next)), name="catalog_listingreview_next"),
            path(
                "<path:object_id>/specimen.css",
                self.admin_site.admin_view(require_safe(self.specimen)),
                name="catalog_listingreview_specimen",
            ),
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the queue with its filters as one form, and how much there is to take."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None and "cl" in response.context_data:
            changelist = response.context_data["cl"]
            # The theme's drawer of filters cannot be reached by keyboard: the page has a form instead.
            changelist.has_filters = False
            viewer = staff_of(request)
            response.context_data |= {
                "queue_filters": changelist.filter_specs,
                "may_review": viewer.has_perm(REVIEW),
                "open_to_me": open_to(viewer).count(),
                "chosen": {name: request.GET.get(name, "") for name in ("category", "kind")},
            }
        return response

    def take_next(self, request: HttpRequest) -> HttpResponse:
        """Claim the next submission and lead to it."""
        if not request.user.has_perm(REVIEW):
            raise PermissionDenied
        after = self.get_object(request, request.POST["after"]) if request.POST.get("after") else None
        if after is not None and _pending(after) and after.claimed_by_id == request.user.pk:
            services.release_review(review=after, actor=staff_of(request))
        return self._next(request, after)

    def specimen(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Answer with the style sheet that gives the type tester its font; a page names fonts in no other way without scripts."""
        review = self.get_object(request, object_id)
        if review is None or not self.has_view_permission(request, review):
            raise Http404
        preview = review.listing.previews.filter(kind=PreviewKind.FONT_SPECIMEN).first()
        face = "" if preview is None else f'@font-face{{font-family:"Specimen";src:url("{preview.url}");font-display:block}}\n'
        return HttpResponse(face, content_type="text/css; charset=utf-8", headers={"Cache-Control": "private, no-store"})

    def panels(self, request: HttpRequest, subject: ListingReview) -> list[Panel]:
        """Return the history of the listing; the page shows everything else itself."""
        return super().panels(request, subject.listing)

    def page_context(self, request: HttpRequest, subject: ListingReview) -> dict[str, Any]:
        """Return what there is to look at, and the forms to decide with."""
        context = super().page_context(request, subject) | self.decision_context(request, subject)
        filters = QueryDict(request.GET.get("_changelist_filters", ""))
        context["chosen"] = {name: filters.get(name, "") for name in ("category", "kind")}
        context["may_review"] = request.user.has_perm(REVIEW)
        if _pending(subject) and context["may_review"] and not context["own"]:
            context["approve_form"] = ApproveForm(subject=subject, auto_id="approve_%s")
            context["reject_form"] = RejectForm(subject=subject, auto_id="reject_%s")
        return context

    def decision_context(self, request: HttpRequest, subject: ListingReview) -> dict[str, Any]:
        """Return the listing as it is, its file and previews, and what differs from what was approved last."""
        return case_of(subject, staff_of(request))

    def after_decision(self, request: HttpRequest, subject: ListingReview) -> HttpResponse:
        """Lead to the next submission, where the reviewer asked for it."""
        if request.POST.get("then") == NEXT and request.user.has_perm(REVIEW):
            return self._next(request, subject)
        return super().after_decision(request, subject)

    def _next(self, request: HttpRequest, after: ListingReview | None) -> HttpResponse:
        category, kind = request.POST.get("category", ""), request.POST.get("kind", "")
        category, kind = category if category.isprintable() else "", kind if kind in ReviewKind.values else ""
        chosen = ReviewKind(kind) if kind else None
        review = services.claim_next(actor=staff_of(request), after=after, category_slug=category, kind=chosen)
        filters = QueryDict(mutable=True)
        filters.update({name: value for name, value in (("category", category), ("kind", kind)) if value})
        if review is None:
            messages.info(request, "Nothing else waits for you: what is left is your own, or someone is at it.")
            return HttpResponseRedirect(f"{reverse('admin:catalog_listingreview_changelist')}?{filters.urlencode()}".rstrip("?"))
        kept = QueryDict(mutable=True)
        if filters:
            kept["_changelist_filters"] = filters.urlencode()
        return HttpResponseRedirect(f"{self._address(review)}?{kept.urlencode()}".rstrip("?"))

    @decision(
        Decision(
            "Approve",
            REVIEW,
            "The listing is published, or the new file of a published one goes on sale. The vendor gets a mail.",
            "The listing is approved.",
            form=ApproveForm,
            available=_pending,
            variant=ActionVariant.PRIMARY,
        )
    )
    def approve(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Approve the submission."""
        services.approve_listing(review=review, actor=actor, tier_requirement=Tier(answers["tier_requirement"]), note=answers["note"])

    @decision(
        Decision(
            "Reject",
            REVIEW,
            "The vendor gets the findings by mail and may correct and submit again.",
            "The listing is rejected.",
            form=RejectForm,
            available=_pending,
            template="admin/catalog/reject.html",
            variant=ActionVariant.DANGER,
        )
    )
    def reject(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Send the submission back with findings."""
        services.reject_listing(review=review, findings=answers["findings"], actor=actor, note=answers["note"])

    @decision(Decision("Claim", REVIEW, "Other reviewers see that you are at it.", "You are at it now.", form=NoForm, available=_pending))
    def claim(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Mark the case as one's own."""
        services.claim_review(review=review, actor=actor)

    @decision(
        Decision(
            "Take over",
            REVIEW,
            "Someone else is at it: their mark is removed and yours is put in its place.",
            "You are at it now.",
            form=NoForm,
            available=lambda review: _pending(review) and is_claimed(review),
        )
    )
    def take_over(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Mark the case as one's own though someone else is at it."""
        services.claim_review(review=review, actor=actor, take_over=True)

    @decision(
        Decision(
            "Release",
            REVIEW,
            "Your mark is removed, so that others take it.",
            "It is free for others.",
            form=NoForm,
            available=lambda review: _pending(review) and review.claimed_by_id is not None,
        )
    )
    def release(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Remove one's mark."""
        services.release_review(review=review, actor=actor)

    @decision(
        Decision(
            "Take down",
            TAKEDOWN,
            "The listing leaves the catalog at once. Who bought it can still download it. The vendor gets the reason by mail.",
            "The listing is taken down.",
            available=lambda review: review.listing.status == ListingStatus.PUBLISHED,
            variant=ActionVariant.DANGER,
        )
    )
    def takedown(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Take the published listing down."""
        services.takedown_listing(listing=review.listing, reason=answers["reason"], actor=actor)

    @decision(
        Decision(
            "Mark file as malicious",
            BLOCK,
            "Downloads of these bytes stop at once, in every listing that holds them, also for those who bought them.",
            "The file is blocked, in every listing that holds it.",
            available=_may_block,
            template="admin/catalog/block.html",
            variant=ActionVariant.DANGER,
        )
    )
    def block(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Mark the submitted file as malicious."""
        deliverable = deliverable_under_review(review)
        if deliverable is None:
            raise NotFound
        services.block_deliverable(deliverable=deliverable, reason=answers["reason"], actor=actor)
