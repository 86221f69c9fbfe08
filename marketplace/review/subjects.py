"""Names of the subjects of audit entries, with links."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from marketplace.core.models import AuditEntry
from marketplace.ui.formatting import badge

# Each kind of subject costs a query; entries about further kinds are shown without a name.
NAMED_KINDS = 5
NAME_CHARS = 120
_JOINED = re.compile(r"[_ ]+")


@dataclass(frozen=True)
class Subject:
    """The subject of an entry: its kind, and its name and address if it exists and the viewer may see it."""

    kind: str
    name: str = ""
    address: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()

    @property
    def link(self) -> SafeString | str:
        """The kind and the name, which is a link."""
        if not self.address:
            return str(self)
        return format_html('{} <a href="{}">{}</a>', self.kind, self.address, self.name)


def add_subjects(entries: Iterable[AuditEntry], site: AdminSite, request: HttpRequest) -> None:
    """Set `subject` of each entry, in a query for each of the most frequent kinds."""
    by_kind: dict[str, list[AuditEntry]] = defaultdict(list)
    for entry in entries:
        by_kind[entry.subject_type].append(entry)
    for number, kind in enumerate(sorted(by_kind, key=lambda kind: -len(by_kind[kind]))):
        found = _subjects_by_id(kind, by_kind[kind], site, request) if number < NAMED_KINDS else {}
        for entry in by_kind[kind]:
            entry.subject = found.get(entry.subject_id, Subject(kind_label(kind)))  # type: ignore[attr-defined]  # shown by the admin's pages


def _subjects_by_id(kind: str, entries: Iterable[AuditEntry], site: AdminSite, request: HttpRequest) -> dict[str, Subject]:
    model = _model_of(kind)
    model_admin: Any = None if model is None else site._registry.get(model)
    if model is None or model_admin is None or not model_admin.has_view_permission(request):
        return {}
    listed = model_admin.list_select_related
    rows = model_admin.get_queryset(request).select_related(*(listed if isinstance(listed, (list, tuple)) else ()))
    ids = {pk for entry in entries if (pk := _pk_of(model, entry.subject_id)) is not None}
    name = getattr(model_admin, "name", str)
    route = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    return {
        str(row.pk): Subject(kind_label(kind), name(row)[:NAME_CHARS], reverse(route, args=[row.pk])) for row in rows.filter(pk__in=ids)
    }


def _model_of(kind: str) -> type[Model] | None:
    try:
        return apps.get_model(kind)
    except (LookupError, ValueError):
        return None


def _pk_of(model: type[Model], text: str) -> Any:
    try:
        return model._meta.pk.to_python(text)
    except ValidationError:
        return None


def kind_label(kind: str) -> str:
    """Return the name of a kind of subject, by the label of its model."""
    model = _model_of(kind)
    return capfirst(str(model._meta.verbose_name)) if model is not None else kind


def action_label(action: str) -> str:
    """Return an action such as `vendor.set_commission` as text: `Vendor: set commission`."""
    noun, _, verb = action.partition(".")
    return capfirst(_JOINED.sub(" ", f"{noun}: {verb}" if verb else noun))


def outcome(entry: AuditEntry) -> SafeString | str:
    """Return the states before and after, as badges."""
    if not entry.to_state:
        return ""
    if not entry.from_state:
        return badge(entry.to_state)
    return format_html("{} → {}", badge(entry.from_state), badge(entry.to_state))
