"""The review queue: everything that is needed to decide, on one page."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.enums import ActionVariant

from marketplace.accounts.models import Tier, User
from marketplace.core.admin import Decision, NoForm, Panel, QueueAdmin, decision
from marketplace.core.errors import NotFound

from ..models import ListingReview
from ..models.listings import ListingStatus
from ..models.reviews import ReviewStatus
from ..selectors.reviews import cases_of_store, deliverable_under_review
from ..services import review as services
from ..services.snapshots import last_approved_snapshot, snapshot_of
from .forms import ApproveForm, RejectForm
from .words import changes_in_words, in_words

REVIEW = "catalog.review_listing"
TAKEDOWN = "catalog.takedown_listing"
BLOCK = "catalog.block_deliverable"
VENDOR_ROWS = 10
# The review page shows the bytes and the pictures themselves.
SHOWN_APART = {"file", "previews"}


def _pending(review: ListingReview) -> bool:
    return review.status == ReviewStatus.PENDING


@admin.register(ListingReview)
class ListingReviewAdmin(QueueAdmin):
    """Submissions, those that wait first and the oldest of them on top."""

    waiting = {"status": ReviewStatus.PENDING}
    list_display = ("listing", "kind", "store", "status", "submitted_at", "waiting_time", "claimed_by", "decided_by")
    list_filter = ("status", "kind", "listing__category")
    list_select_related = ("listing__store", "claimed_by", "decided_by")
    search_fields = ("listing__title", "listing__slug", "listing__store__name")
    fields = ("listing", "store", "kind", "status", "submitted_at", "submitted_by", "claimed_by", "note", "decided_at", "decided_by")
    readonly_fields = ("store",)
    actions_detail = ("approve", "reject", "claim", "release", "takedown", "block")
    change_form_outer_after_template = "admin/catalog/review.html"

    @admin.display(description="Store", ordering="listing__store__name")
    def store(self, review: ListingReview) -> str:
        """Return whose listing it is."""
        return review.listing.store.name

    def panels(self, request: HttpRequest, subject: ListingReview) -> list[Panel]:
        """Return the findings, the vendor's other cases and the history of the listing."""
        findings = [(f["code"], f["field"], f["message"], f["hint"]) for f in subject.findings]
        cases = [
            (case.listing.title, case.kind, case.status, f"{case.submitted_at:%Y-%m-%d}", ", ".join(f["code"] for f in case.findings))
            for case in cases_of_store(subject.listing.store).exclude(pk=subject.pk)[:VENDOR_ROWS]
        ]
        return [
            Panel("Findings", ("Code", "Field", "What is wrong", "What to do"), findings),
            Panel(
                "The vendor's other cases", ("Listing", "Kind", "Outcome", "Submitted", "Findings"), cases, "This is the vendor's first."
            ),
            *super().panels(request, subject.listing),
        ]

    def page_context(self, request: HttpRequest, subject: ListingReview) -> dict[str, Any]:
        """Return what there is to look at, and the forms to decide with."""
        context = super().page_context(request, subject) | self.decision_context(request, subject)
        if _pending(subject) and request.user.has_perm(REVIEW):
            context["approve_form"] = ApproveForm(subject=subject, auto_id="approve_%s")
            context["reject_form"] = RejectForm(subject=subject, auto_id="reject_%s")
        return context

    def decision_context(self, request: HttpRequest, subject: ListingReview) -> dict[str, Any]:
        """Return the listing as it is, its file and previews, and what differs from what was approved last."""
        listing, deliverable = subject.listing, deliverable_under_review(subject)
        return {
            "review": subject,
            "listing": listing,
            "fields": [(name, in_words(value)) for name, value in snapshot_of(listing).items() if name not in SHOWN_APART],
            "first": last_approved_snapshot(listing) is None,
            "changes": changes_in_words(listing),
            "deliverable": deliverable,
            "technical": [(name, in_words(value)) for name, value in deliverable.technical.items()] if deliverable else [],
            "previews": list(listing.previews.order_by("kind", "slot")),
            "others_claim": subject.claimed_by_id not in {None, request.user.pk},
        }

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
            "Block file",
            BLOCK,
            "Nobody can download the file any more, not even who bought it; a published listing that sells it is taken down.",
            "The file is blocked.",
            available=lambda review: deliverable_under_review(review) is not None,
            variant=ActionVariant.DANGER,
        )
    )
    def block(self, review: ListingReview, actor: User, answers: Mapping[str, Any]) -> None:
        """Mark the submitted file as malicious."""
        deliverable = deliverable_under_review(review)
        if deliverable is None:
            raise NotFound
        services.block_deliverable(deliverable=deliverable, reason=answers["reason"], actor=actor)
