"""The queue of developer applications."""

from functools import partial

from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.admin import saved_reply_form
from marketplace.review.decisions import CLAIMING, Decision, claiming, service_decision
from marketplace.review.models import SavedReplyUse
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin

from ..models import DeveloperApplication
from ..models.applications import ApplicationStatus
from ..services import applications as services
from ..services.states import APPLICATION_TRANSITIONS
from .effects import withdrawal_effects

DECIDE = "developers.decide_developerapplication"


@admin.register(DeveloperApplication)
class DeveloperApplicationAdmin(QueueAdmin):
    """Applications for developer access, with the decisions on them."""

    waiting = {"status": ApplicationStatus.PENDING}
    list_display = ("user", "company", "status", "submitted_at", "waiting_time", "claim_mark", "decided_by")
    list_filter = ("status",)
    list_select_related = ("user", "decided_by", "claimed_by")
    search_fields = ("user__email", "company")
    fields = ("user", "status", "company", "website", "what", "why", "submitted_at", "decision_reason", "decided_at", "decided_by")
    decision_names = ("approve", "reject", "ask", *CLAIMING, "withdraw")
    owner, noun, review_permission = "user", "application", DECIDE
    page_decisions = {"approve": "a", "reject": "r", "ask": "m"}
    claim, take_over, release = claiming(DECIDE, partial(APPLICATION_TRANSITIONS.allows, verb="approve"))

    def panels(self, request: HttpRequest, subject: DeveloperApplication) -> list[Panel]:
        rows = [(f"{message.at:%Y-%m-%d %H:%M}", message.author, message.text) for message in subject.messages.select_related("author")]
        conversation = Panel("Conversation", ("At (UTC)", "Who", "Message"), rows, "No questions yet.")
        return [conversation, *super().panels(request, subject)]

    approve = service_decision(
        Decision(
            "Approve",
            DECIDE,
            "The applicant becomes an approved developer and can create apps.",
            "The application was approved.",
            available=partial(APPLICATION_TRANSITIONS.allows, verb="approve"),
            form=saved_reply_form(SavedReplyUse.APPLICATION_APPROVE),
        ),
        services.approve_application,
        "application",
    )

    reject = service_decision(
        Decision(
            "Reject",
            DECIDE,
            "The applicant gets the reason by mail and can apply again.",
            "The application was rejected.",
            available=partial(APPLICATION_TRANSITIONS.allows, verb="reject"),
            danger=True,
            form=saved_reply_form(SavedReplyUse.APPLICATION_REJECT),
        ),
        services.reject_application,
        "application",
    )

    ask = service_decision(
        Decision(
            "Ask a question",
            DECIDE,
            "The applicant gets the question by mail; the application waits for the answer.",
            "The question was sent.",
            available=partial(APPLICATION_TRANSITIONS.allows, verb="ask"),
            form=saved_reply_form(SavedReplyUse.APPLICATION_ASK),
        ),
        services.request_more_info,
        "application",
    )

    withdraw = service_decision(
        Decision(
            "Withdraw approval",
            DECIDE,
            "The developer's apps are suspended, and their keys and tokens stop working at once.",
            "The approval was withdrawn.",
            available=partial(APPLICATION_TRANSITIONS.allows, verb="withdraw"),
            danger=True,
            effects=withdrawal_effects,
        ),
        services.withdraw_approval,
        "application",
    )
