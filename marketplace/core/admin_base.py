"""The base class of every ModelAdmin of ours. It is apart from `core.admin`, which needs the models, because the site imports it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.db.models import QuerySet
from django.forms import Media
from django.http import HttpRequest

from . import bounds
from .admin_cells import column
from .admin_checks import PermissionChecks

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class BoundedChangeList(ChangeList):
    """A list that is narrowed by its filters only, and ordered by each column at most once.

    Django's own takes any lookup of any field from the address: a regular expression can keep a database busy for minutes.
    """

    def get_filters(self, request: HttpRequest) -> Any:
        """Return what Django returns; a parameter that no filter takes leads back to the whole list."""
        filters = super().get_filters(request)
        _, _, untaken, *_ = filters
        if untaken:
            raise IncorrectLookupParameters
        return filters

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Return what Django returns for as many columns as there are."""
        if ORDER_VAR in self.params:
            self.params[ORDER_VAR] = ".".join(self.params[ORDER_VAR].split(".", len(self.list_display))[: len(self.list_display)])
        return super().get_ordering(request, queryset)


class Base(ModelAdmin):
    """Django's admin with our checks, and without its scripts: no page of ours needs them."""

    checks_class = PermissionChecks
    list_per_page = 50
    # An address could ask for a count of each choice of each filter.
    show_facets = admin.ShowFacets.NEVER
    # The page that OAuth apps name is the library's, and is not here.
    view_on_site = False
    # Methods that are decision pages.
    decision_names: Sequence[str] = ()
    # What stands above the list, and below the fields on a row's page.
    list_template = ""
    row_template = ""

    @property
    def media(self) -> Media:
        """Return nothing; a widget that has a script brings it along itself."""
        return Media()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list that takes no lookups but those of its filters."""
        return BoundedChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse NUL too, which PostgreSQL does not take as text."""
        return "\x00" not in value and super().lookup_allowed(lookup, value, request)

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> tuple[QuerySet[Any], bool]:
        """Search for the beginning of a long text: each word of it is another condition on each field."""
        return super().get_search_results(request, queryset, search_term[: bounds.ADMIN_SEARCH_CHARS])

    def get_list_display(self, request: HttpRequest) -> Any:
        """Show times in words, and states as our pages mark them."""
        return [self.shown(name) for name in super().get_list_display(request)]

    def shown(self, name: Any) -> Any:
        """Return what shows a field or a method of ours: a function where Django would show it otherwise, or else its name."""
        return name if hasattr(self, str(name)) else column(self.model, name)
