"""The base class of admins for rows that only services make and change.

A decision has its own page: GET shows what will happen and asks for a reason, POST calls the service. Nothing else
in the admin changes a state.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, Q, QuerySet, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from marketplace.core import audit
from marketplace.core.errors import InvalidInput, Problem

from .base import MarketplaceModelAdmin
from .decisions import Button, Decision, DecisionForm, LastDecision, Perform
from .panels import Panel, history_panel
from .search import LISTED_ROWS, SearchQuery, ids_of
from .subjects import action_label


class ServiceAdmin(MarketplaceModelAdmin):
    """Rows that are read-only except for decisions."""

    show_full_result_count = False
    row_template = "admin/panels.html"

    # Relations that a row's page shows in addition to the columns of the list and its own fields.
    row_related: tuple[str, ...] = ()
    # Whether a row's page shows its entries in the audit log.
    has_history = True
    # Whether the list's search compares whole values, most of them by an index, instead of looking for a part of one in every row.
    searches_whole_values = False
    # Names of the fields that search results show.
    found_title = "pk"
    found_detail = "pk"

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row with the relations that its page shows, None if there is none."""
        listed = self.list_select_related if isinstance(self.list_select_related, (list, tuple)) else ()
        shown = {*self.get_fields(request)}
        keys = (field.name for field in self.opts.concrete_fields if field.is_relation and field.name in shown)
        try:
            return self.get_queryset(request).select_related(*listed, *self.row_related, *keys).get(pk=object_id)
        except (self.model.DoesNotExist, ValidationError, ValueError):
            return None

    def name(self, subject: Any) -> str:
        """Return what a row is called in headings and messages."""
        return str(subject)

    def find(self, query: SearchQuery) -> Sequence[Q] | None:
        """Return indexed conditions for a search, best first; None if these rows are not searchable."""
        return None

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> tuple[QuerySet[Any], bool]:
        """Search the list with the conditions of `find`, if there are any."""
        query = SearchQuery.of(search_term)
        conditions = self.find(query) if query.text else None
        if conditions is None and query.text and self.searches_whole_values:
            values = ((name, query.email if name.endswith("email") else query.text) for name in self.search_fields)
            conditions = [Q(**{name: value}) for name, value in values if value]
        if conditions is None:
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(pk__in=ids_of(queryset, conditions, None if self.searches_whole_values else LISTED_ROWS)), False

    def has_add_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Return False: services make these rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: decisions stay on record."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: rows are changed by decisions."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow users who may view these rows or take one of the decisions."""
        return super().has_view_permission(request, obj) or any(
            request.user.has_perm(decision.permission) for decision in self.decisions().values()
        )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields to show; Django would build a form only to list them."""
        if self.fields is not None:
            return self.fields
        extra = [name for name in self.get_readonly_fields(request, obj) if isinstance(name, str)]
        return list(dict.fromkeys([field.name for field in self.opts.fields if field.editable] + extra))

    def decisions(self) -> dict[str, Decision]:
        """Return the decision pages by name."""
        return {name: getattr(self, name).decision for name in self.decision_names}

    def get_urls(self) -> list[URLPattern]:
        pages = [
            path(
                f"<path:object_id>/{name.replace('_', '-')}/",
                self.admin_site.admin_view(getattr(self, name)),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{name}",
            )
            for name in self.decision_names
        ]
        return [*pages, *super().get_urls()]

    def button_names(self) -> Sequence[str]:
        """Return the names of the decisions that the row's page links to."""
        return self.decision_names

    def buttons(self, request: HttpRequest, subject: Any) -> list[Button]:
        """Return links to the decisions that the row's state and the user's permissions allow."""
        decisions = self.decisions()
        return [
            Button(decisions[name].label, self._page_url(name, subject), danger=decisions[name].danger)
            for name in self.button_names()
            if request.user.has_perm(decisions[name].permission) and decisions[name].available(subject)
        ]

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        """Return the tables below the fields on the row's page."""
        return [history_panel(audit.history_of(subject))] if self.has_history else []

    def last_decision(self, subject: Any) -> LastDecision | None:
        """Return the last decision on the row, from the audit log; None if there is none."""
        entry = audit.history_of(subject).exclude(from_state="", to_state="").first()
        return None if entry is None else LastDecision(action_label(entry.action), entry.at, entry.actor, entry.reason)

    def page_context(self, request: HttpRequest, subject: Any) -> dict[str, Any]:
        """Return the template context of the row's page."""
        return {"heading": self.name(subject), "panels": self.panels(request, subject), "buttons": self.buttons(request, subject)}

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Add the context of the row's page."""
        subject = kwargs.get("obj")
        if subject is not None:
            # Each is rendered twice, for narrow and for wide screens.
            prefetch_related_objects([subject], *(field.name for field in self.opts.many_to_many if field.name in self.get_fields(request)))
            context |= self.page_context(request, subject)
        return super().render_change_form(request, context, *args, **kwargs)

    def decide(self, request: HttpRequest, object_id: str, decision: Decision, perform: Perform) -> HttpResponse:
        """Ask on GET, perform on POST; a refusal becomes a message."""
        if not request.user.has_perm(decision.permission):
            raise PermissionDenied
        subject = self.get_object(request, object_id)
        if subject is None:
            raise Http404
        data = request.POST if request.method == "POST" else None
        form = decision.form(data, subject=subject)
        if form.is_valid():
            try:
                perform(self, subject, request.user, form.cleaned_data)
            except InvalidInput as problem:
                form.add_error(None, problem.message)
            except Problem as problem:
                self.message_user(request, f"{self.name(subject)}: {problem.title}. {problem.message}", messages.ERROR)
                return self._back(request, subject)
            else:
                self.message_user(request, f"{self.name(subject)}: {decision.done}", messages.SUCCESS)
                return self.after_decision(request, subject)
        return self._show_form(request, subject, decision, form)

    def _show_form(self, request: HttpRequest, subject: Any, decision: Decision, form: DecisionForm) -> HttpResponse:
        name, possible = self.name(subject), decision.available(subject)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{decision.label}: {name}",
            "name": name,
            "decision": decision,
            "subject": subject,
            "form": form,
            "possible": possible,
            "decided": None if possible else self.last_decision(subject),
            "back": self._page_url("change", subject),
            "effects": decision.effects(subject) if possible else [],
            **decision.context(subject),
        }
        return TemplateResponse(request, decision.template, context, status=200 if not form.is_bound else 400)

    def after_decision(self, request: HttpRequest, subject: Any) -> HttpResponse:
        return self._back(request, subject)

    def _back(self, request: HttpRequest, subject: Model) -> HttpResponse:
        if self.has_view_permission(request, subject):
            return HttpResponseRedirect(self._page_url("change", subject))
        return HttpResponseRedirect(reverse("admin:index"))

    def _page_url(self, name: str, subject: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{name}", args=[subject.pk])


def staff_of(request: HttpRequest) -> Any:
    """Return the signed-in user, untyped because this package does not import the user model."""
    return request.user
