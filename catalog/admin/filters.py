"""How the review queue is narrowed down; each filter is a word in the address, so that a view of the queue can be bookmarked."""

from datetime import timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Count, F, Max, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from marketplace.review.claims import claimed, claimed_by_others
from marketplace.review.panels import QuerySets
from marketplace.review.service import staff_of

from ..models import Category, Listing, ListingReview, Store
from ..models.listings import ListingStatus
from ..models.reviews import ReviewKind, ReviewStatus

Choices = list[tuple[str, str]]
# Vendors to choose from: more than these are found by the search field.
VENDORS = 50
DAYS = {"1": "a day", "3": "three days", "7": "a week", "14": "two weeks", "30": "a month"}
EVERYTHING = "all"
_OFFERED = "_queue_filters"


class QueueFilter(SimpleListFilter):
    """Base: without a choice, nothing is left out."""

    # The choice that the others stand beside.
    unchosen = "All"

    def options(self) -> list[dict[str, Any]]:
        """Return what a select field offers."""
        chosen = self.value() or ""
        offered = [("", self.unchosen), *((str(value), str(label)) for value, label in self.lookup_choices)]
        return [{"value": value, "label": label, "chosen": value == chosen} for value, label in offered]

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Return what the choice leaves."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[ListingReview]) -> QuerySet[ListingReview]:
        """Narrow down by the choice; a word that is none of the choices finds nothing."""
        value = self.value()
        if not value:
            return queryset
        if value not in {str(choice) for choice, _ in self.lookup_choices}:
            return queryset.none()
        return self.narrowed(queryset, value)


class StateFilter(QueueFilter):
    """What waits, unless something else is asked for."""

    title = "state"
    # The sidebar's link and a plain field filter say it like this.
    parameter_name = "status__exact"
    unchosen = "Waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the states."""
        return [*((status.value, status.label) for status in ReviewStatus), (EVERYTHING, "All")]

    def options(self) -> list[dict[str, Any]]:
        """Return the states; waiting is what stands there without a choice."""
        chosen = self.value() or ReviewStatus.PENDING
        labels = dict(self.lookup_choices) | {ReviewStatus.PENDING.value: "Waiting"}
        return [{"value": value, "label": label, "chosen": value == chosen} for value, label in labels.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ListingReview]) -> QuerySet[ListingReview]:
        """Leave what waits where nothing else is asked for."""
        if not self.value():
            return queryset.filter(status=ReviewStatus.PENDING)
        return super().queryset(request, queryset)

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave one state, or all."""
        return queryset if value == EVERYTHING else queryset.filter(status=value)


class ClaimFilter(QueueFilter):
    """Who is at it."""

    title = "claimed by"
    parameter_name = "claimed"
    unchosen = "Anyone or nobody"

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        self._viewer = staff_of(request)
        super().__init__(request, *args)

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return whose claims can be asked for."""
        return [("nobody", "Nobody"), ("me", "Me"), ("others", "Others")]

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave what they are at; a claim that has ended is nobody's."""
        conditions: dict[str, Q] = {
            "nobody": ~claimed(),
            "me": claimed() & Q(claimed_by=self._viewer),
            "others": claimed_by_others(self._viewer),
        }
        return queryset.filter(conditions[value])


class KindFilter(QueueFilter):
    """New listings, updates, takedowns."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the kinds."""
        return [(kind.value, kind.label) for kind in ReviewKind]

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave one kind."""
        return queryset.filter(kind=value)


class CategoryFilter(QueueFilter):
    """Listings of one category."""

    title = "category"
    parameter_name = "category"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the categories."""
        return [(category.slug, category.name) for category in _offered(request)["categories"]]

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave one category."""
        return queryset.filter(listing__category__slug=value)


class VendorFilter(QueueFilter):
    """One vendor, of those with the most that waits; any other by its slug in the address."""

    title = "vendor"
    parameter_name = "vendor"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the vendors with something that waits, and the one that was asked for."""
        related = _offered(request)
        offered = {store.slug: f"{store.name} ({store.waiting})" for store in related["vendors"]}
        asked = {store.slug: store.name for store in related["asked"] if store.slug not in offered}
        return list((offered | asked).items())

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave one vendor's."""
        return queryset.filter(listing__store__slug=value)


def _offered(request: HttpRequest) -> QuerySets:
    """Return what the filters offer, read once for a page: categories, vendors with something that waits, the vendor that was asked for."""
    related: QuerySets | None = getattr(request, _OFFERED, None)
    if related is None:
        waiting = Count("listings__reviews", filter=Q(listings__reviews__status=ReviewStatus.PENDING))
        vendors = Store.objects.annotate(waiting=waiting).filter(waiting__gt=0).order_by("-waiting", "name")
        asked = request.GET.get(VendorFilter.parameter_name, "")
        related = {
            "categories": Category.objects.only("slug", "name"),
            "vendors": vendors.only("slug", "name")[:VENDORS],
            "asked": Store.objects.filter(slug=asked if asked.isprintable() else "").only("slug", "name"),
        }

        setattr(request, _OFFERED, related)
    return related


class WaitingFilter(QueueFilter):
    """What has waited for longer than a vendor should have to."""

    title = "waiting longer than"
    parameter_name = "days"
    unchosen = "Any time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the times."""
        return list(DAYS.items())

    def narrowed(self, queryset: QuerySet[ListingReview], value: str) -> QuerySet[ListingReview]:
        """Leave what still waits and came before then."""
        return queryset.filter(status=ReviewStatus.PENDING, submitted_at__lt=timezone.now() - timedelta(days=int(value)))


class EditedFilter(SimpleListFilter):
    """Published listings that their vendors changed since a reviewer last approved them: such edits are live at once."""

    title = "edits"
    parameter_name = "edited"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """Return the one choice."""
        return [("since", "Edited since the last approval")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Listing]) -> QuerySet[Listing]:
        """Leave what is on sale and was changed after its last approval, the latest change first."""
        if self.value() != "since":
            return queryset
        approved = Max("reviews__decided_at", filter=Q(reviews__status=ReviewStatus.APPROVED))
        edited = queryset.annotate(last_approved_at=approved).filter(status=ListingStatus.PUBLISHED, updated_at__gt=F("last_approved_at"))
        return edited.order_by("-updated_at")


QUEUE_FILTERS = (StateFilter, ClaimFilter, CategoryFilter, KindFilter, VendorFilter, WaitingFilter)
