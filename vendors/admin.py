"""Vendors in the admin: decide on profiles, set commissions and payout methods."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q

from catalog.selectors.listings import published_in
from marketplace.accounts.models import User
from marketplace.core import bounds
from marketplace.review.admin import saved_reply_form
from marketplace.review.decisions import CLAIMING, Decision, ReasonForm, claiming, decision, service_decision
from marketplace.review.models import SavedReplyUse
from marketplace.review.queues import QueueAdmin
from marketplace.review.search import SearchQuery, starts_with

from .models import VendorProfile, VendorStatus
from .services import profiles as services

DECIDE = "vendors.decide_vendorprofile"
COMMISSION = "vendors.set_commission_vendorprofile"
PAYOUT = "vendors.set_payout_vendorprofile"


class CommissionForm(ReasonForm):
    """Sets the platform's commission in percent; a reason is required."""

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


class PayoutForm(ReasonForm):
    """Sets how the vendor is paid; a reason is required."""

    payout_method = forms.CharField(
        max_length=bounds.NAME_CHARS,
        required=False,
        help_text="For example: bank transfer, account ending in 4711. Leave empty for none.",
    )
    field_order = ("payout_method", "reason")

    def __init__(self, *args: Any, subject: VendorProfile, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["payout_method"].initial = subject.payout_method


def _allows(verb: str) -> Callable[[Any], bool]:
    return partial(services.TRANSITIONS.allows, verb=verb)


def _suspension_effects(profile: VendorProfile) -> list[str]:
    published = published_in(profile.store)
    return [f"Published listings that leave the catalog: {published}."]


@admin.register(VendorProfile)
class VendorProfileAdmin(QueueAdmin):
    """Vendor profiles: approve, suspend, reinstate, set the commission and the payout method."""

    waiting = {"status": VendorStatus.PENDING}
    waiting_since = "applied_at"
    list_display = ("store", "user", "status", "applied_at", "waiting_time", "claim_mark", "commission", "decided_by")
    list_filter = ("status",)
    list_select_related = ("store", "user", "decided_by", "claimed_by")
    search_fields = ("store__name", "store__slug", "user__email")
    fields = ("store", "user", "status", "bio", "application_data", "commission", "payout_method", "applied_at", "decided_at", "decided_by")
    readonly_fields = ("commission",)
    decision_names = ("approve", "suspend", "reinstate", *CLAIMING, "commission_rate", "payout")
    owner, noun, decides = "user", "vendor", DECIDE
    on_page = {"approve": "a", "suspend": "r"}
    claim, take_over, release = claiming(DECIDE, _allows("approve"))

    found_title, found_detail = "store__name", "status"

    def find(self, query: SearchQuery) -> list[Q]:
        """Search by id, by owner, and by the beginning of the store's name or slug."""
        if query.id:
            return [Q(pk=query.id), Q(store=query.id)]
        if query.email:
            return [Q(user__email=query.email)]
        return [Q(store__slug=query.text.lower()), starts_with("store__name", query.text)]

    @admin.display(description="Commission", ordering="commission_rate_bp")
    def commission(self, profile: VendorProfile) -> str:
        """Return the commission for display."""
        return f"{profile.commission_rate_bp / 100:g} %"

    approve = service_decision(
        Decision(
            "Approve",
            DECIDE,
            "The vendor can sell, and the store opens.",
            "The vendor was approved.",
            available=_allows("approve"),
            form=saved_reply_form(SavedReplyUse.VENDOR_APPROVE),
        ),
        services.approve_vendor,
        "profile",
    )

    suspend = service_decision(
        Decision(
            "Suspend",
            DECIDE,
            "The vendor's listings leave the catalog. Buyers can still download what they own.",
            "The vendor was suspended.",
            available=_allows("suspend"),
            danger=True,
            effects=_suspension_effects,
            form=saved_reply_form(SavedReplyUse.VENDOR_SUSPEND),
        ),
        services.suspend_vendor,
        "profile",
    )

    reinstate = service_decision(
        Decision(
            "Reinstate",
            DECIDE,
            "The vendor can sell again, and published listings return to the catalog.",
            "The vendor was reinstated.",
            available=_allows("reinstate"),
        ),
        services.reinstate_vendor,
        "profile",
    )

    @decision(
        Decision(
            "Set commission",
            COMMISSION,
            "The platform keeps this share of the vendor's future sales.",
            "The commission was set.",
            CommissionForm,
        )
    )
    def commission_rate(self, profile: VendorProfile, actor: User, answers: Mapping[str, Any]) -> None:
        """Set the platform's commission."""
        rate = int(answers["percent"] * 100)
        services.set_commission(profile=profile, commission_rate_bp=rate, reason=answers["reason"], actor=actor)

    payout = service_decision(
        Decision(
            "Set payout method",
            PAYOUT,
            "The vendor sees it with the status of the application.",
            "The payout method was set.",
            PayoutForm,
        ),
        services.set_payout_method,
        "profile",
        answers=("payout_method", "reason"),
    )
