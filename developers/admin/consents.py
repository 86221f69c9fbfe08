"""Users' consents to apps, which staff can view and revoke."""

from django.contrib import admin

from marketplace.review.decisions import Decision, service_decision
from marketplace.review.service import ServiceAdmin

from ..models import Consent
from ..services.consents import revoke_consent


@admin.register(Consent)
class ConsentAdmin(ServiceAdmin):
    """Consents, active and withdrawn."""

    list_display = ("user", "app", "audience", "scope", "given_at", "renewed_at", "withdrawn_at")
    list_filter = ("audience",)
    list_select_related = ("user", "app")
    search_fields = ("user__email", "app__name")
    fields = list_display
    decision_names = ("revoke",)

    revoke = service_decision(
        Decision(
            "Revoke",
            "developers.revoke_consent",
            "The app loses access to the user's account at once, and its tokens for it are revoked. The user gets an email.",
            "The user's consents to the app were revoked.",
            available=lambda consent: consent.withdrawn_at is None,
            danger=True,
        ),
        revoke_consent,
        "consent",
    )
