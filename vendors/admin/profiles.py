"""Vendors in the admin: decide on profiles, set commissions, hold payouts."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from catalog.models.files import StorePictureKind
from catalog.selectors.listings import published_count
from catalog.selectors.reviews import reviews_of_store
from marketplace.accounts.models import User
from marketplace.review.admin import saved_reply_form
from marketplace.review.decisions import CLAIMING, Decision, ReasonForm, claiming, decision, service_decision
from marketplace.review.models import SavedReplyUse
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin
from marketplace.review.search import SearchQuery, starts_with
from marketplace.ui.formatting import badge

from ..models import VendorProfile, VendorStatus
from ..selectors import small_picture_of
from ..services import payout_details, profiles, store_pictures

DECIDE = "vendors.decide_vendorprofile"
COMMISSION = "vendors.set_commission_vendorprofile"
PAYOUTS = "vendors.hold_payouts_vendorprofile"
# The most reviews of a vendor's listings that the page shows.
MAX_REVIEWS = 10


class CommissionForm(ReasonForm):
    """Sets the marketplace's commission in percent; a reason is required."""

    percent = forms.DecimalField(
        label="Commission in percent",
        min_value=Decimal(0),
        max_value=Decimal(100),
        decimal_places=2,
        max_digits=5,
    )
    field_order = ("percent", "reason")

    def __init__(self, *args: Any, subject: VendorProfile, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["percent"].initial = Decimal(subject.commission_rate_bp) / 100


def _allows(verb: str) -> Callable[[Any], bool]:
    return partial(profiles.VENDOR_TRANSITIONS.allows, verb=verb)


@admin.register(VendorProfile)
class VendorProfileAdmin(QueueAdmin):
    """Vendor profiles: approve, suspend, reinstate, set the commission, hold payouts."""

    waiting = {"status": VendorStatus.PENDING}
    waiting_since = "applied_at"
    list_display = ("store", "user", "status", "applied_at", "waiting_time", "claim_mark", "commission", "decided_by")
    list_filter = ("status", ("payouts_held_at", admin.EmptyFieldListFilter))
    list_select_related = ("store", "user", "decided_by", "claimed_by")
    search_fields = ("store__name", "store__slug", "user__email")
    fields = (
        "store",
        "user",
        "status",
        "bio",
        "pictures",
        "application_data",
        "commission",
        "payouts_held_at",
        "applied_at",
        "decided_at",
        "decided_by",
    )
    readonly_fields = ("commission", "pictures")
    decision_names = (
        "approve",
        "reject",
        "suspend",
        "reinstate",
        *CLAIMING,
        "take_pictures_down",
        "commission_rate",
        "hold_payouts",
        "release_payouts",
    )
    owner, noun, review_permission = "user", "vendor", DECIDE
    page_decisions = {"approve": "a", "reject": "r"}
    kept_parameters = ("status__exact", "payouts_held_at__isempty", "q")
    claim, take_over, release = claiming(DECIDE, _allows("approve"))

    found_title, found_detail = "store__name", "status"

    def find(self, query: SearchQuery) -> list[Q]:
        """Search by id, by owner, by the store's whole slug, and by the beginning of its name."""
        if query.id:
            return [Q(pk=query.id), Q(store=query.id)]
        if query.email:
            return [Q(user__email=query.email)]
        return [Q(store__slug=query.text.lower()), starts_with("store__name", query.text)]

    def panels(self, request: HttpRequest, subject: VendorProfile) -> list[Panel]:
        """Return the latest reviews of the vendor's listings, and the history."""
        rows = [
            (
                review.listing.title,
                review.kind,
                badge(review.status),
                review.decided_at,
                "\n".join(finding["message"] for finding in review.findings),
            )
            for review in reviews_of_store(subject.store)[:MAX_REVIEWS]
        ]
        reviews = Panel("Reviews of the vendor's listings", ("Listing", "Kind", "Outcome", "Decided", "Findings"), rows)
        return [reviews, *super().panels(request, subject)]

    @admin.display(description="Commission", ordering="commission_rate_bp")
    def commission(self, profile: VendorProfile) -> str:
        return f"{profile.commission_rate_bp / 100:g} %"

    @admin.display(description="Logo and banner")
    def pictures(self, profile: VendorProfile) -> SafeString:
        shown = [picture for kind in StorePictureKind if (picture := small_picture_of(profile.store, kind)) is not None]
        rows = ((picture.url, min(picture.width, 320)) for picture in shown)
        return format_html_join(" ", '<img src="{}" width="{}" alt="">', rows) if shown else SafeString("—")

    take_pictures_down = service_decision(
        Decision(
            "Remove the pictures",
            DECIDE,
            "The store's logo and banner are deleted. The vendor gets the reason by mail, and can upload others.",
            "The pictures were removed.",
            available=lambda profile: profile.store.pictures.exists(),
            danger=True,
        ),
        store_pictures.take_pictures_down,
        "profile",
    )

    approve = service_decision(
        Decision(
            "Approve",
            DECIDE,
            "The vendor can sell, and the store opens.",
            "The vendor was approved.",
            available=_allows("approve"),
            form=saved_reply_form(SavedReplyUse.VENDOR_APPROVE),
        ),
        profiles.approve_vendor,
        "profile",
    )

    reject = service_decision(
        Decision(
            "Reject",
            DECIDE,
            "The store does not open. The vendor gets the reason by mail, and can be reinstated here later.",
            "The vendor was rejected.",
            available=_allows("reject"),
            danger=True,
            form=saved_reply_form(SavedReplyUse.VENDOR_REJECT),
        ),
        profiles.reject_vendor,
        "profile",
    )

    suspend = service_decision(
        Decision(
            "Suspend",
            DECIDE,
            "The vendor's listings leave the catalog. Buyers can still download what they own.",
            "The vendor was suspended.",
            available=lambda profile: profile.status == VendorStatus.APPROVED,
            danger=True,
            effects=lambda profile: [f"Published listings that leave the catalog: {published_count(profile.store)}."],
            form=saved_reply_form(SavedReplyUse.VENDOR_SUSPEND),
        ),
        profiles.suspend_vendor,
        "profile",
    )

    reinstate = service_decision(
        Decision(
            "Reinstate",
            DECIDE,
            "The vendor can sell again, and published listings return to the catalog.",
            "The vendor was reinstated.",
            available=lambda profile: profile.status == VendorStatus.SUSPENDED and not profile.user.deleted,
        ),
        profiles.reinstate_vendor,
        "profile",
    )

    @decision(
        Decision(
            "Set commission",
            COMMISSION,
            "The marketplace keeps this share of the vendor's future sales.",
            "The commission was set.",
            CommissionForm,
        )
    )
    def commission_rate(self, profile: VendorProfile, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        rate = int(cleaned_data["percent"] * 100)
        profiles.set_commission(profile=profile, commission_rate_bp=rate, reason=cleaned_data["reason"], actor=actor)

    hold_payouts = service_decision(
        Decision(
            "Hold payouts",
            PAYOUTS,
            "Nothing is paid out to the vendor, and no bank account can be changed, until the payouts are released.",
            "The payouts are held.",
            available=lambda profile: profile.payouts_held_at is None,
            danger=True,
        ),
        payout_details.hold_payouts,
        "profile",
    )

    release_payouts = service_decision(
        Decision(
            "Release payouts",
            PAYOUTS,
            "Earnings are paid out again. Make sure first that it is the vendor who asks for it, and that the bank account is right.",
            "The payouts are released.",
            available=lambda profile: profile.payouts_held_at is not None,
        ),
        payout_details.release_payouts,
        "profile",
    )
