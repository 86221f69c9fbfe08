"""The base class of every ModelAdmin of ours. It is apart from `core.admin`, which needs the models, because the site imports it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.forms import Media
from django.http import HttpRequest

from .admin_cells import column
from .admin_checks import PermissionChecks

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class Base(ModelAdmin):
    """Django's admin with our checks, and without its scripts: no page of ours needs them."""

    checks_class = PermissionChecks
    list_per_page = 50
    # Methods that are decision pages.
    decision_names: Sequence[str] = ()
    # What stands above the list, and below the fields on a row's page.
    list_template = ""
    row_template = ""

    @property
    def media(self) -> Media:
        """Return nothing; a widget that has a script brings it along itself."""
        return Media()

    def get_list_display(self, request: HttpRequest) -> Any:
        """Show times in words, and states as our pages mark them."""
        return [self.shown(name) for name in super().get_list_display(request)]

    def shown(self, name: Any) -> Any:
        """Return what shows a field or a method of ours: a function where Django would show it otherwise, or else its name."""
        return name if hasattr(self, str(name)) else column(self.model, name)
