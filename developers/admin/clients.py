"""Reviews of changed metadata documents, and of new redirect URIs of developers' apps."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.admin import saved_reply_form
from marketplace.review.decisions import CLAIMING, Decision, ReasonForm, claiming, service_decision
from marketplace.review.models import SavedReplyUse
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin
from marketplace.ui.formatting import badge

from ..models import MetadataReview
from ..models.clients import MetadataReviewStatus
from ..services.clients import METADATA_REVIEW_TRANSITIONS, decide_metadata
from .apps import DECIDE


class MetadataDecisionForm(ReasonForm):
    """Asks for the reason, and repeats the metadata as they were shown, so that the decision applies to nothing else."""

    shown = forms.JSONField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, subject: MetadataReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["shown"].initial = subject.latest


@admin.register(MetadataReview)
class MetadataReviewAdmin(QueueAdmin):
    """Changed metadata documents, and new redirect URIs of developers' apps; a new app is reviewed with its scopes."""

    waiting = {"status": MetadataReviewStatus.CHANGED}
    waiting_since = "read_at"
    list_display = ("app", "host", "status", "read_at", "waiting_time", "claim_mark")
    list_filter = ("status", "host")
    list_select_related = ("app__user", "claimed_by")
    search_fields = ("host", "app__name", "app__client_id")
    fields = ("app", "client_id", "host", "status", "app_status", "read_at")
    readonly_fields = ("client_id", "app_status")
    decision_names = ("accept", "refuse", *CLAIMING)
    owner, noun, review_permission = "app__user", "metadata_review", DECIDE
    page_decisions = {"accept": "a", "refuse": "r"}
    kept_parameters = ("status__exact", "host", "q")
    claim, take_over, release = claiming(DECIDE, partial(METADATA_REVIEW_TRANSITIONS.allows, verb="accept"))

    @admin.display(description="Client")
    def client_id(self, metadata_review: MetadataReview) -> str:
        """Return the client's id, which for a client with a metadata document is the URL of the document."""
        return metadata_review.app.client_id

    @admin.display(description="App")
    def app_status(self, metadata_review: MetadataReview) -> str:
        return badge(metadata_review.app.status)

    def panels(self, request: HttpRequest, subject: MetadataReview) -> list[Panel]:
        return [_comparison(subject), *super().panels(request, subject)]

    accept = service_decision(
        Decision(
            "Accept changes",
            DECIDE,
            "Users see the new name, and may be sent to the new addresses.",
            "The changes were accepted.",
            form=saved_reply_form(SavedReplyUse.METADATA_ACCEPT, MetadataDecisionForm),
            available=partial(METADATA_REVIEW_TRANSITIONS.allows, verb="accept"),
            context=lambda metadata_review: {"panels": [_comparison(metadata_review)]},
            template="admin/developers/decide_document.html",
            fields_template="admin/developers/document_fields.html",
        ),
        partial(decide_metadata, accept=True),
        "metadata_review",
    )

    refuse = service_decision(
        Decision(
            "Refuse changes",
            DECIDE,
            "The app stays as it was reviewed; a client with a metadata document loses the redirect URIs that the document no longer contains.",
            "The changes were refused.",
            form=saved_reply_form(SavedReplyUse.METADATA_REFUSE, MetadataDecisionForm),
            available=partial(METADATA_REVIEW_TRANSITIONS.allows, verb="refuse"),
            context=lambda metadata_review: {"panels": [_comparison(metadata_review)]},
            template="admin/developers/decide_document.html",
            fields_template="admin/developers/document_fields.html",
            danger=True,
        ),
        partial(decide_metadata, accept=False),
        "metadata_review",
    )


def _comparison(metadata_review: MetadataReview) -> Panel:
    reviewed, latest = metadata_review.reviewed, metadata_review.latest
    rows = [
        ("Name", reviewed["name"], latest["name"]),
        ("Sends users to", " ".join(reviewed["redirect_uris"]), " ".join(latest["redirect_uris"])),
    ]
    return Panel("The metadata", ("Field", "As reviewed", f"As of {metadata_review.read_at:%Y-%m-%d %H:%M} (UTC)"), rows)
