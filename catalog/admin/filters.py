"""List filters of the review queue and of listings. Their values are query parameters, so that a filtered queue can be bookmarked."""

from datetime import timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Count, F, Max, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from marketplace.review.claims import claimed, claimed_by_others
from marketplace.review.service import staff_of

from ..models import Category, Listing, ListingReview, Store
from ..models.listings import ListingStatus
from ..models.reviews import ReviewKind, ReviewStatus

Choices = list[tuple[str, str]]
# The most vendors in the filter; others are found by the search field.
VENDORS = 50
WAITING_DAYS = {"1": "a day", "3": "three days", "7": "a week", "14": "two weeks", "30": "a month"}
EVERYTHING = "all"


class QueueFilter(SimpleListFilter):
    """Base of the queue's filters; without a value it filters nothing."""

    # Label of the option for no value, if there is one.
    empty_label: str | None = "All"
    # What the value is compared with.
    lookup = ""

    def options(self) -> list[dict[str, Any]]:
        chosen = self.value() or ""
        offered = [*([("", self.empty_label)] if self.empty_label else []), *self.lookup_choices]
        return [{"value": value, "label": label, "chosen": value == chosen} for value, label in offered]

    def filter_by(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Return the rows that match a valid value."""
        return queryset.filter(**{self.lookup: value})

    def queryset(self, request: HttpRequest, queryset: QuerySet[ListingReview]) -> QuerySet[ListingReview]:
        """Filter by the value; an unknown value matches nothing."""
        value = self.value()
        if not value:
            return queryset
        if value not in {str(choice) for choice, _ in self.lookup_choices}:
            return queryset.none()
        return self.filter_by(queryset, value)


class StatusFilter(QueueFilter):
    """Filter by status; pending reviews by default."""

    title = "status"
    # The same parameter as a plain field filter and the sidebar's link use.
    parameter_name = "status__exact"
    empty_label = None
    lookup = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [*(dict(ReviewStatus.choices) | {ReviewStatus.PENDING.value: "Waiting"}).items(), (EVERYTHING, "All")]

    def value(self) -> str:
        return super().value() or ReviewStatus.PENDING.value

    def filter_by(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        return queryset if value == EVERYTHING else super().filter_by(queryset, value)


class ClaimFilter(QueueFilter):
    """Filter by the reviewer who claimed the review."""

    title = "claimed by"
    parameter_name = "claimed"
    empty_label = "Anyone or nobody"

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        self._viewer = staff_of(request)
        super().__init__(request, *args)

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("nobody", "Nobody"), ("me", "Me"), ("others", "Others")]

    def filter_by(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Return the reviews claimed by nobody, by the viewer or by others; expired claims count as none."""
        conditions: dict[str, Q] = {
            "nobody": ~claimed(),
            "me": claimed() & Q(claimed_by=self._viewer),
            "others": claimed_by_others(self._viewer),
        }
        return queryset.filter(conditions[value])


class KindFilter(QueueFilter):
    """Filter by kind: new listings, updates, takedowns."""

    title = "kind"
    parameter_name = "kind"
    lookup = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return ReviewKind.choices


class CategoryFilter(QueueFilter):
    """Filter by category."""

    title = "category"
    parameter_name = "category"
    lookup = "listing__category__slug"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return list(Category.objects.values_list("slug", "name"))


class VendorFilter(QueueFilter):
    """Filter by vendor: offers those with the most pending reviews, and takes any other slug in the address."""

    title = "vendor"
    parameter_name = "vendor"
    lookup = "listing__store__slug"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the vendors with pending reviews and the requested one."""
        waiting = Count("listings__reviews", filter=Q(listings__reviews__status=ReviewStatus.PENDING))
        vendors = Store.objects.annotate(waiting=waiting).filter(waiting__gt=0).order_by("-waiting", "name").only("slug", "name")[:VENDORS]
        offered = {store.slug: f"{store.name} ({store.waiting})" for store in vendors}
        slug = request.GET.get(self.parameter_name, "")
        asked = dict(Store.objects.filter(slug=slug).values_list("slug", "name")) if slug.isprintable() and slug not in offered else {}
        return list((offered | asked).items())


class WaitingFilter(QueueFilter):
    """Filter by how long a review has been pending."""

    title = "waiting longer than"
    parameter_name = "days"
    empty_label = "Any time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return list(WAITING_DAYS.items())

    def filter_by(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        return queryset.filter(status=ReviewStatus.PENDING, submitted_at__lt=timezone.now() - timedelta(days=int(value)))


class EditedFilter(SimpleListFilter):
    """Filter for published listings that were changed or submitted since their last approval. Changes are live at once, without a review."""

    title = "edits"
    parameter_name = "edited"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("since", "Changed or submitted since the last approval")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Listing]) -> QuerySet[Listing]:
        if self.value() != "since":
            return queryset
        approved = Max("reviews__decided_at", filter=Q(reviews__status=ReviewStatus.APPROVED))
        edited = queryset.annotate(last_approved_at=approved).filter(status=ListingStatus.PUBLISHED, updated_at__gt=F("last_approved_at"))
        return edited.order_by("-updated_at")


QUEUE_FILTERS = (StatusFilter, ClaimFilter, CategoryFilter, KindFilter, VendorFilter, WaitingFilter)
