"""The queue of requests for scopes, decided scope by scope."""

from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.core import bounds
from marketplace.core.scopes import Scope
from marketplace.review.decisions import CLAIMING, Decision, DecisionForm, claiming, decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin
from marketplace.ui.forms import Prose

from ..models import AppScope, ScopeReview
from ..models.apps import AppStatus, ScopeReviewStatus
from ..selectors import current_application, undecided_scopes_of
from ..services.scopes import ScopeDecision, decide_scopes
from .apps import DECIDE, DECISION_LABELS

# How many earlier decisions of each kind the page shows.
EARLIER = 10
_CHOICES = (("grant", "Grant"), ("refuse", "Refuse"))


class ShownForm(DecisionForm):
    """Names the logo and the redirect URIs that the page shows: only these are approved."""

    logo_digest = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)
    redirect_uris = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, subject: ScopeReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        logo = getattr(subject.app, "logo", None)
        self.initial.update({"logo_digest": "" if logo is None else logo.digest, "redirect_uris": subject.app.redirect_uris})


class ScopeDecisionsForm(ShownForm):
    """Asks for a decision on each requested scope, with a note on each and one on the whole request."""

    note = Prose(required=False, rows=3, help_text="The developer sees this. A refusal needs a note, here or next to the scope.")

    def __init__(self, *args: Any, subject: ScopeReview, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.requested = list(undecided_scopes_of(subject.app)) if _is_pending(subject) else []
        for row in self.requested:
            self.fields[f"decision:{row.scope}"] = forms.ChoiceField(
                label=f"Decide on {row.scope}", choices=_CHOICES, widget=forms.RadioSelect
            )
            self.fields[f"note:{row.scope}"] = forms.CharField(label=f"Note on {row.scope}", required=False, max_length=bounds.REASON_CHARS)

    def rows(self) -> list[tuple[AppScope, forms.BoundField, forms.BoundField]]:
        """Return each requested scope with the fields to decide on it and for a note."""
        return [(row, self[f"decision:{row.scope}"], self[f"note:{row.scope}"]) for row in self.requested]

    def clean(self) -> None:
        """Add the decisions to the cleaned data."""
        super().clean()
        cleaned = self.cleaned_data
        if not self.errors:
            cleaned["decisions"] = {
                Scope(row.scope): ScopeDecision(granted=cleaned[f"decision:{row.scope}"] == "grant", note=cleaned[f"note:{row.scope}"])
                for row in self.requested
            }


class GrantAllForm(ShownForm):
    """A note on a request of which every scope is granted."""

    note = Prose(required=False, rows=2)


def _is_pending(review: ScopeReview) -> bool:
    return review.status == ScopeReviewStatus.PENDING


def _is_decidable(review: ScopeReview) -> bool:
    """Tell whether the request waits, and its app is not suspended: then it waits for the app to be reinstated."""
    return _is_pending(review) and review.app.status != AppStatus.SUSPENDED


def _facts(review: ScopeReview) -> dict[str, Any]:
    app = review.app
    return {"app": app, "application": app.user and current_application(app.user)}


@admin.register(ScopeReview)
class ScopeReviewAdmin(QueueAdmin):
    """Requests for scopes; each scope is granted or refused separately."""

    waiting = {"status": ScopeReviewStatus.PENDING}
    waiting_since = "requested_at"
    list_display = ("app", "developer", "status", "requested_at", "waiting_time", "claim_mark", "decided_by")
    list_filter = ("status",)
    list_select_related = ("app__user", "app__logo", "decided_by", "claimed_by")
    search_fields = ("app__name", "app__user__email")
    fields = ("app", "developer", "purpose", "status", "requested_at", "note", "decided_at", "decided_by")
    readonly_fields = ("developer", "purpose")
    decision_names = ("grant_all", "decide_scopes", *CLAIMING)
    owner, noun, review_permission = "app__user", "scope_review", DECIDE
    page_decisions = {"grant_all": "g", "decide_scopes": "a"}
    details_template = "admin/developers/app_facts.html"
    claim, take_over, release = claiming(DECIDE, _is_decidable)

    def waiting_rows(self) -> QuerySet[ScopeReview]:
        """Leave out the requests of suspended apps, which nobody can decide."""
        return super().waiting_rows().exclude(app__status=AppStatus.SUSPENDED)

    def waits(self, row: ScopeReview) -> bool:
        return _is_decidable(row)

    @admin.display(description="Developer")
    def developer(self, review: ScopeReview) -> str:
        """Return the developer's email address, or the client id of an app without a developer."""
        return review.app.client_id if review.app.user is None else review.app.user.email

    @admin.display(description="Purpose")
    def purpose(self, review: ScopeReview) -> str:
        return review.app.purpose

    def panels(self, request: HttpRequest, subject: ScopeReview) -> list[Panel]:
        if _is_pending(subject):
            rows = [(row.scope, row.reason, "waits", "") for row in undecided_scopes_of(subject.app)]
        else:
            rows = [(row["scope"], row["reason"], DECISION_LABELS[row["granted"]], row["note"]) for row in subject.outcome]
        return [
            Panel("Scopes of this request", ("Scope", "Why the app wants it", "Decision", "Note"), rows),
            _earlier_requests(subject),
            _same_scopes(subject, [row[0] for row in rows]),
            *super().panels(request, subject),
        ]

    def page_context(self, request: HttpRequest, subject: ScopeReview) -> dict[str, Any]:
        """Add the app, its developer's application and its earlier scopes."""
        return super().page_context(request, subject) | _facts(subject)

    @decision(
        Decision(
            "Grant all",
            DECIDE,
            "The app gets every scope that it asks for. New keys have them; existing keys don't get more scopes.",
            "All scopes were granted.",
            form=GrantAllForm,
            available=_is_decidable,
            context=_facts,
            template="admin/developers/decide_scopes.html",
        )
    )
    def grant_all(self, review: ScopeReview, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        all_granted = {Scope(row.scope): ScopeDecision(granted=True) for row in undecided_scopes_of(review.app)}
        shown = {name: cleaned_data[name] for name in ("logo_digest", "redirect_uris")}
        decide_scopes(review=review, decisions=all_granted, note=cleaned_data["note"], **shown, actor=actor)

    decide_scopes = service_decision(
        Decision(
            "Decide scopes",
            DECIDE,
            "The app gets exactly the scopes that you grant. New keys have them; existing keys don't get more scopes.",
            "The decision on the scopes was saved.",
            form=ScopeDecisionsForm,
            available=_is_decidable,
            context=_facts,
            template="admin/developers/decide_scopes.html",
            fields_template="admin/developers/scope_fields.html",
        ),
        decide_scopes,
        "review",
        fields=("decisions", "note", "logo_digest", "redirect_uris"),
    )


def _earlier_requests(review: ScopeReview) -> Panel:
    decided = review.app.scope_reviews.filter(status=ScopeReviewStatus.DECIDED).exclude(pk=review.pk).select_related("decided_by")
    rows = [
        (
            each.decided_at,
            each.decided_by or "",
            ", ".join(f"{row['scope']} {DECISION_LABELS[row['granted']]}" for row in each.outcome),
            each.note,
        )
        for each in decided.order_by("-decided_at", "-id")[:EARLIER]
    ]
    return Panel("Earlier requests of this app", ("Decided", "By", "Decision", "Note"), rows)


def _same_scopes(review: ScopeReview, scopes: Collection[str]) -> Panel:
    decided = AppScope.objects.filter(scope__in=scopes).exclude(decided_at=None).exclude(app=review.app).select_related("app")
    rows = [
        (row.scope, row.app.name, DECISION_LABELS[row.granted], row.decided_at, row.note)
        for row in decided.order_by("-decided_at", "-id")[:EARLIER]
    ]
    return Panel("Latest decisions on these scopes for other apps", ("Scope", "App", "Decision", "At", "Note"), rows)
