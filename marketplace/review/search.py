"""The admin's search over all models: each admin contributes indexed conditions, and one statement evaluates them all.

Conditions are limited to what an index answers: an id, an email address, the beginning of a name, the end of a credential.
"""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db import connection
from django.db.models import CharField, F, IntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.urls import reverse

from marketplace.core import bounds
from marketplace.core.ids import SECRET_PREFIX, parse_id

if TYPE_CHECKING:
    from .service import ServiceAdmin

GROUP_ROWS = 5
# The most rows that the search of a list shows for each condition of `find`.
LISTED_ROWS = 500
# Shorter prefixes would match too many rows.
MIN_PREFIX_CHARS = 2
# A whole credential, however it was copied: `Bearer cam_sk_…`, a signing secret of a webhook.
_SECRET = re.compile(rf"{SECRET_PREFIX}\S*(\S{{4}})")
_TEXT = CharField()
_HIGHEST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True)
class SearchQuery:
    """A search term, and the id that it represents if it is one."""

    text: str
    id: uuid.UUID | None

    @classmethod
    def of(cls, typed: str) -> "SearchQuery":
        """Return the query for a typed text; a whole secret is reduced to its last four characters."""
        secret = _SECRET.search(typed)
        text = (secret[1] if secret else typed.strip())[: bounds.ADMIN_SEARCH_CHARS]
        if not text.isprintable():
            text = ""
        return cls(text.removeprefix("…"), parse_id(text.lower()))

    @property
    def email(self) -> str:
        """The text as an email address or its beginning; empty if it is not one."""
        return self.text.lower() if "@" in self.text else ""

    @property
    def ending(self) -> str:
        """The text as the last four characters of a credential; empty if it cannot be."""
        return self.text if len(self.text) == 4 and self.text.isalnum() else ""


@dataclass(frozen=True)
class SearchGroup:
    """The rows found by one admin, each with its address, title and detail."""

    title: str
    rows: Sequence[tuple[str, str, str]]
    # The address of the list of them all; empty if they are shown.
    more: str


def starts_with(field: str, text: str) -> Q:
    """Return an indexed condition for a prefix: as typed, in lower case or capitalised. A single character matches only the whole value."""
    if len(text) < MIN_PREFIX_CHARS:
        return Q(**{field: text})
    condition = Q()
    for beginning in dict.fromkeys((text, text.lower(), text.capitalize())):
        if connection.vendor == "postgresql":
            condition |= Q(**{f"{field}__startswith": beginning})
        else:
            # SQLite's LIKE ignores case, and then uses no index.
            condition |= Q(**{f"{field}__gte": beginning, f"{field}__lt": beginning + _HIGHEST_CHARACTER})
    return condition


def search_admins(admins: Iterable["ServiceAdmin"], query: SearchQuery) -> list[SearchGroup]:
    """Return the rows found in each admin, best first, by one statement."""
    admins = list(admins)
    parts = [part for place, model_admin in enumerate(admins) for part in _parts(place, model_admin, query)]
    if not parts:
        return []
    first, *others = parts
    found: dict[int, dict[str, tuple[str, str]]] = {}
    for place, _, pk, title, detail in sorted(first.union(*others, all=True) if others else first, key=lambda row: row[:2]):
        found.setdefault(place, {}).setdefault(pk, (title, detail))
    return [_group(admins[place], rows, query) for place, rows in sorted(found.items())]


def ids_of(rows: QuerySet[Any], conditions: Sequence[Q], most: int | None) -> QuerySet[Any, Any]:
    """Return the ids of those of the rows that match any of the conditions, of each at most so many."""
    every, rows = rows.model._default_manager.order_by().values("pk"), rows.order_by()
    first, *others = (every.filter(pk__in=_few(rows, condition, most)) for condition in conditions or [Q(pk__in=())])
    ids: QuerySet[Any, Any] = first.union(*others) if others else first
    return ids


def _parts(place: int, model_admin: "ServiceAdmin", query: SearchQuery) -> Iterator[QuerySet[Any, Any]]:
    rows = model_admin.model._default_manager.order_by()
    for rank, condition in enumerate(model_admin.find(query) or ()):
        shape = {
            "found_place": Value(place, output_field=IntegerField()),
            "found_rank": Value(rank, output_field=IntegerField()),
            "found_pk": Cast("pk", _TEXT),
            "found_title": Cast(F(model_admin.found_title), _TEXT),
            "found_detail": Cast(F(model_admin.found_detail), _TEXT),
        }
        yield rows.filter(pk__in=_few(rows, condition, GROUP_ROWS + 1)).annotate(**shape).values_list(*shape)


def _few(rows: QuerySet[Any], condition: Q, most: int | None) -> QuerySet[Any, Any]:
    return rows.filter(condition).values("pk")[:most]


def _group(model_admin: "ServiceAdmin", rows: dict[str, tuple[str, str]], query: SearchQuery) -> SearchGroup:
    opts = model_admin.opts
    base = f"admin:{opts.app_label}_{opts.model_name}"
    keys = {opts.pk.to_python(pk): found for pk, found in rows.items()}
    shown = [(reverse(f"{base}_change", args=[pk]), title or str(pk), detail or "") for pk, (title, detail) in keys.items()]
    more = f"{reverse(f'{base}_changelist')}?{urlencode({'q': query.text})}" if len(shown) > GROUP_ROWS else ""
    return SearchGroup(str(opts.verbose_name_plural).capitalize(), shown[:GROUP_ROWS], more)
