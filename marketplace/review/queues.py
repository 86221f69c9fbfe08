"""Review queues: rows that wait for a decision are claimed, decided on their page, and followed by the next."""

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, QuerySet, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.timesince import timesince

from marketplace.core.errors import Problem
from marketplace.http.refusals import allow_methods

from . import claims
from .base import column
from .decisions import CLAIMING, Decision, DecisionForm
from .panels import Panel
from .service import ServiceAdmin, staff_of

NEXT = "next"
# The attribute of a request for a row's page that has the submitted forms with errors, by decision.
FAULTY = "faulty_forms"
VALUE_CHARS = 200
# The most rows that are tried: others may claim some of the oldest at the same time.
ATTEMPTS = 20


class QueueAdmin(ServiceAdmin):
    """Rows that wait for a decision: those that wait come first, the oldest of them on top."""

    # The field with the time since which a row waits, empty in rows that have never waited, and the filter for waiting rows.
    waiting_since = "submitted_at"
    waiting: Mapping[str, Any] = {}
    # Lookup of the row's owner, who may not decide on it; empty if there is no owner.
    owner = ""
    # First half of the audit action of a claim.
    noun = ""
    # The permission to claim rows.
    review_permission = ""
    # Decisions with a form on the row's page, with their keyboard shortcuts.
    page_decisions: Mapping[str, str] = {}
    # Query parameters of the list's filters and of its search: the next row is one that they find, and its address keeps them.
    kept_parameters: tuple[str, ...] = ("status__exact", "q")
    list_template = "admin/queue/list.html"
    row_template = "admin/queue/subject.html"
    # Template between the fields and the tables.
    details_template = ""

    def waiting_rows(self) -> QuerySet[Any]:
        """Return the waiting rows, oldest first."""
        rows: QuerySet[Any] = self.model._default_manager.filter(**self.waiting).order_by(self.waiting_since, "pk")
        return rows

    def open_to(self, viewer: Any) -> QuerySet[Any]:
        """Return the waiting rows that the viewer may decide on and nobody else has claimed, oldest first."""
        rows = self.waiting_rows().exclude(claims.claimed_by_others(viewer))
        return rows.exclude(**{self.owner: viewer}) if self.owner else rows

    def waits(self, row: Any) -> bool:
        return all(getattr(row, name) == value for name, value in self.waiting.items())

    def is_own(self, row: Any, viewer: Any) -> bool:
        """Tell whether the viewer may not decide on the row because it is their own."""
        return bool(self.owner) and attrgetter(self.owner.replace("__", "."))(row) == viewer

    def claim_row(self, row: Any, actor: Any, *, take_over: bool = False) -> Any:
        own = self.is_own(row, actor)
        return claims.claim(row=row, waiting=self.waiting_rows(), own=own, noun=self.noun, actor=actor, take_over=take_over)

    def release_row(self, row: Any, actor: Any) -> None:
        claims.release(row=row, waiting=self.waiting_rows(), own=self.is_own(row, actor), noun=self.noun, actor=actor)

    def claim_next(self, actor: Any, *, after: Any, listed: QuerySet[Any]) -> Any:
        """Claim the row of the list that has waited longest after `after`; None if there is none."""
        rows = self.open_to(actor).filter(pk__in=listed.order_by().values("pk"))
        if after is not None:
            rows = rows.exclude(pk=after.pk)
            since = getattr(after, self.waiting_since)
            later = rows.none() if since is None else rows.filter(**{f"{self.waiting_since}__gte": since})
            rows = later if later.exists() else rows
        for row in rows[:ATTEMPTS]:
            with suppress(Problem):
                return self.claim_row(row, actor)
        return None

    def get_ordering(self, request: HttpRequest) -> Any:
        return (Case(When(**self.waiting, then=0), default=1).asc(), F(self.waiting_since).asc(nulls_last=True))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return no fieldsets: the page shows the fields itself."""
        return []

    def button_names(self) -> list[str]:
        return [name for name in self.decision_names if name not in {*self.page_decisions, *CLAIMING}]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(allow_methods("POST")(self.take_next))
        name = f"{self.opts.app_label}_{self.opts.model_name}_next"
        return [path("next/", view, name=name), *super().get_urls()]

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Add the number of rows of the list that are open to the viewer."""
        viewer = staff_of(request)
        may_review, listed = viewer.has_perm(self.review_permission), changelist.queryset.order_by().values("pk")
        return super().list_context(request, changelist) | {
            "may_review": may_review,
            "open_to_me": self.open_to(viewer).filter(pk__in=listed).count() if may_review else 0,
            "chosen": self.chosen(request.GET),
            "next_url": self.next_url(),
        }

    def chosen(self, asked: Mapping[str, str]) -> dict[str, str]:
        """Return the values of `kept_parameters`, shortened, or empty if they are not printable."""
        values = {name: asked.get(name, "")[:VALUE_CHARS] for name in self.kept_parameters}
        return {name: value if value.isprintable() else "" for name, value in values.items()}

    def next_url(self) -> str:
        """Return the URL that claims the next row."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_next")

    def list_url(self, chosen: Mapping[str, str]) -> str:
        """Return the URL of the filtered list."""
        address = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        return f"{address}?{_query(chosen)}".rstrip("?")

    def take_next(self, request: HttpRequest) -> HttpResponse:
        """Claim the next row and redirect to it."""
        if not request.user.has_perm(self.review_permission):
            raise PermissionDenied
        after = self.get_object(request, request.POST["after"]) if request.POST.get("after") else None
        if after is not None and self.waits(after) and after.claimed_by_id == request.user.pk:
            # It may have been decided or taken over in the meantime.
            with suppress(Problem):
                self.release_row(after, staff_of(request))
        return self._next(request, after)

    def after_decision(self, request: HttpRequest, subject: Any) -> HttpResponse:
        """Redirect to the next row if the reviewer asked for it."""
        if request.POST.get("then") == NEXT and request.user.has_perm(self.review_permission):
            return self._next(request, subject)
        return super().after_decision(request, subject)

    def _next(self, request: HttpRequest, after: Any) -> HttpResponse:
        chosen = self.chosen(request.POST)
        row = self.claim_next(staff_of(request), after=after, listed=self._listed(request, chosen))
        if row is None:
            messages.info(request, "Nothing else in this list is open to you.")
            return HttpResponseRedirect(self.list_url(chosen))
        return HttpResponseRedirect(self.subject_url(row, chosen))

    def _listed(self, request: HttpRequest, chosen: Mapping[str, str]) -> QuerySet[Any]:
        """Return the rows of the filtered list."""
        list_request = copy(request)
        list_request.GET = QueryDict(_query(chosen))
        try:
            rows: QuerySet[Any] = self.get_changelist_instance(list_request).queryset
        except IncorrectLookupParameters:
            rows = self.model._default_manager.none()
        return rows

    def subject_url(self, subject: Any, chosen: Mapping[str, str]) -> str:
        """Return the URL of the subject's page, with the filters of the list."""
        return f"{self._page_url('change', subject)}?{_query({'_changelist_filters': _query(chosen)})}".rstrip("?")

    def page_context(self, request: HttpRequest, subject: Any) -> dict[str, Any]:
        """Add the claim, links to other rows, and the decision forms."""
        viewer, chosen = staff_of(request), self.chosen(QueryDict(request.GET.get("_changelist_filters", "")))
        waits, own, may_review = self.waits(subject), self.is_own(subject, viewer), viewer.has_perm(self.review_permission)
        claimed, previous = waits and claims.is_claimed(subject), self._waiting_longer(subject)
        return super().page_context(request, subject) | {
            "subject": subject,
            "details_template": self.details_template,
            "status": getattr(subject, "status", ""),
            "since": getattr(subject, self.waiting_since),
            "pending": waits,
            "own": own,
            "may_review": may_review,
            "claimed_by_me": claimed and subject.claimed_by_id == viewer.pk,
            "claimed_by_other": claimed and subject.claimed_by_id != viewer.pk,
            "claim_urls": {name: self._page_url(name, subject) for name in CLAIMING},
            "chosen": chosen,
            "next_url": self.next_url(),
            "list_url": self.list_url(chosen),
            "previous_url": self.subject_url(previous, chosen) if previous else "",
            "facts": self.facts(request, subject),
            "sections": self._sections(request, subject),
        }

    def _back(self, request: HttpRequest, subject: Any) -> HttpResponse:
        if self.has_view_permission(request, subject):
            return HttpResponseRedirect(self.subject_url(subject, self.chosen(request.POST)))
        return super()._back(request, subject)

    def _waiting_longer(self, subject: Any) -> Any:
        """Return the row before this one in the queue, None if there is none."""
        name, since = self.waiting_since, getattr(subject, self.waiting_since)
        if since is None:
            return None
        older = self.waiting_rows().exclude(pk=subject.pk).filter(**{f"{name}__lte": since})
        return older.order_by(f"-{name}", "-pk").only("pk").first()

    def _offered(self, request: HttpRequest, subject: Any) -> dict[str, Decision]:
        """Return the decisions with a form on the page; none for one's own rows and for rows that do not wait."""
        if not self.waits(subject) or self.is_own(subject, request.user):
            return {}
        decisions: Mapping[str, Decision] = self.decisions()
        return {
            name: decisions[name]
            for name in self.page_decisions
            if request.user.has_perm(decisions[name].permission) and decisions[name].available(subject)
        }

    def _show_form(self, request: HttpRequest, subject: Any, decision: Decision, form: DecisionForm) -> HttpResponse:
        """Show the row's page again with the errors of one of its forms."""
        name = next((name for name, offered in self._offered(request, subject).items() if offered is decision), "")
        if not form.is_bound or not name or not self.has_view_permission(request, subject):
            return super()._show_form(request, subject, decision, form)
        form.auto_id = f"{name}_%s"
        page_request = copy(request)
        page_request.method = "GET"
        page_request.GET = QueryDict(urlsplit(self.subject_url(subject, self.chosen(request.POST))).query)
        setattr(page_request, FAULTY, {name: form})
        response = self.change_view(page_request, str(subject.pk))
        response.status_code = 400
        return response

    def _sections(self, request: HttpRequest, subject: Any) -> list[dict[str, Any]]:
        """Return the decision forms of the page, with their keyboard shortcuts and sentences about the effects on this row."""
        faulty: Mapping[str, DecisionForm] = getattr(request, FAULTY, {})
        return [
            {
                "name": name,
                "decision": decision,
                "form": faulty.get(name) or decision.form(subject=subject, auto_id=f"{name}_%s"),
                "address": self._page_url(name, subject),
                "key": self.page_decisions[name],
                "effects": decision.effects(subject),
            }
            for name, decision in self._offered(request, subject).items()
        ]

    def facts(self, request: HttpRequest, subject: Any) -> Panel:
        """Return the row's fields as a table."""
        rows = []
        for name in self.get_fields(request, subject):
            show = getattr(self, name, None) or column(self.model, name)
            value = show(subject) if callable(show) else getattr(subject, name)
            rows.append((str(label_for_field(name, self.model, self)).capitalize(), value))
        return Panel("Details", (), rows)

    @admin.display(description="Waiting")
    def waiting_time(self, row: Any) -> str:
        return timesince(getattr(row, self.waiting_since), timezone.now(), depth=1) if self.waits(row) else "-"

    @admin.display(description="Claimed by", ordering="claimed_at")
    def claim_mark(self, row: Any) -> str:
        return str(row.claimed_by) if self.waits(row) and claims.is_claimed(row) else "-"


def _query(chosen: Mapping[str, str]) -> str:
    return urlencode({name: value for name, value in chosen.items() if value})
