"""The base class of our ModelAdmins, its system checks, and the display of times, states, amounts and other values."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.checks import ModelAdminChecks
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core import checks, paginator
from django.core.exceptions import FieldDoesNotExist
from django.db import IntegrityError, connection
from django.db.models import BooleanField, DateTimeField, JSONField, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse

from marketplace.core import bounds
from marketplace.core.money import Currency
from marketplace.ui.formatting import badge, money, when


class PermissionChecks(ModelAdminChecks):
    """Checks that each decision names an existing permission."""

    def check(self, admin_obj: Any, **kwargs: Any) -> list[checks.CheckMessage]:
        """Return what Django finds, and an error for each decision without a permission or with an unknown one."""
        return [*super().check(admin_obj, **kwargs), *self._check_decisions(admin_obj)]

    def _check_decisions(self, admin_obj: Any) -> Iterator[checks.CheckMessage]:
        known = {f"{model._meta.app_label}.{name}" for model in apps.get_models() for name in _permissions_of(model)}
        for name in admin_obj.decision_names:
            named = getattr(admin_obj, name).decision.permission
            if named not in known:
                message = f"{type(admin_obj).__qualname__}.{name} names no permission, or one that does not exist: {named}."
                yield checks.Error(message, obj=type(admin_obj), id="core.E001")


def _permissions_of(model: type[Model]) -> Iterator[str]:
    yield from (f"{verb}_{model._meta.model_name}" for verb in model._meta.default_permissions)
    yield from (codename for codename, _ in model._meta.permissions)


STATES = ("status", "update_status")
SIZES = ("file_size", "size")
_PRICE_CURRENCIES = {"price_inr_minor": Currency.INR, "price_eur_minor": Currency.EUR}
# The parts of a field's name that are left out of its label: amounts and percentages are shown with their unit.
_LABEL = re.compile(r"^is (?=\w)| minor$| bp$")


def column(model: type[Model], name: Any) -> Any:
    """Return a display function for a field that we show differently than Django does, otherwise the field's name."""
    if not isinstance(name, str):
        return name
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return _cell(name, "", lambda row: badge(getattr(row, name))) if name in STATES else name
    label, show = str(getattr(field, "verbose_name", name)), _display_of(field, name)
    return name if show is None else _cell(name, _LABEL.sub("", label), show, ordered=True)


def _display_of(field: Any, name: str) -> Callable[[Any], Any] | None:
    """Return the function that shows a row's value of a field, None for Django's own display."""
    if isinstance(field, DateTimeField):
        return lambda row: when(getattr(row, name)) or "-"
    if isinstance(field, BooleanField):
        return lambda row: "yes" if getattr(row, name) else "no"
    if isinstance(field, JSONField):
        return lambda row: json_text(getattr(row, name)) or "-"
    if name in STATES:
        return lambda row: badge(getattr(row, name)) if getattr(row, name) else "-"
    if name.endswith("_bp"):
        return lambda row: f"{getattr(row, name) / 100:g} %"
    if name in SIZES:
        return lambda row: filesizeformat(getattr(row, name))
    if name.endswith("_minor") and any(each.name == "currency" for each in field.model._meta.concrete_fields):
        return lambda row: money(getattr(row, name), _PRICE_CURRENCIES.get(name) or row.currency)
    return None


def json_text(value: Any) -> str:
    """Return a JSON value as text: values beside each other, or a line for each name."""
    match value:
        case dict():
            return "\n".join(f"{name}: {json_text(inner)}".rstrip() for name, inner in value.items())
        case list():
            separator = "\n" if any(isinstance(inner, dict) for inner in value) else ", "
            return separator.join(json_text(inner).replace("\n", ", ") for inner in value)
        case bool():
            return "yes" if value else "no"
        case None:
            return ""
        case _:
            return str(value)


def _cell(name: str, label: str, show: Callable[[Any], Any], *, ordered: bool = False) -> Any:
    @admin.display(description=label or name, ordering=name if ordered else None)
    def cell(row: Any) -> Any:
        return show(row)

    cell.__name__ = name
    return cell


# Generic for mypy only.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[Any]
    Paginator = paginator.Paginator[Any]
else:
    ModelAdmin = admin.ModelAdmin
    ModelForm = forms.ModelForm
    Paginator = paginator.Paginator


class BoundedChangeList(ChangeList):
    """A change list that only accepts the lookups of its filters, and orders by at most as many columns as it has.

    Django's accepts any lookup of any field, and a regular expression can keep a database busy for minutes.
    """

    def get_filters(self, request: HttpRequest) -> Any:
        """Return Django's filters; an unknown parameter redirects to the unfiltered list."""
        filters = super().get_filters(request)
        _, _, unused, *_ = filters
        if unused:
            raise IncorrectLookupParameters
        return filters

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Return Django's ordering by at most as many columns as there are."""
        if ORDER_VAR in self.params:
            self.params[ORDER_VAR] = ".".join(self.params[ORDER_VAR].split(".", len(self.list_display))[: len(self.list_display)])
        return super().get_ordering(request, queryset)


class ListPaginator(Paginator):
    """Reads the ids of a page first, so that what a list shows is joined to the rows of the page only, not to all that are sorted or skipped."""

    def page(self, number: Any) -> Any:
        page: Any = super().page(number)
        rows: Any = self.object_list
        page.object_list = rows.filter(pk__in=list(page.object_list.values_list("pk", flat=True)))
        return page


class MarketplaceModelAdmin(ModelAdmin):
    """Base class of our admins, with our checks and without Django's scripts."""

    checks_class = PermissionChecks
    list_per_page = 50
    paginator = ListPaginator
    # Otherwise a query parameter could ask for the count of each choice of each filter.
    show_facets = admin.ShowFacets.NEVER
    # django-oauth-toolkit's `get_absolute_url` reverses a URL that is not routed here.
    view_on_site = False
    # Names of methods that are decision pages.
    decision_names: Sequence[str] = ()
    # Templates above the list, and below the fields on a row's page.
    list_template = ""
    row_template = ""

    @property
    def media(self) -> forms.Media:
        """Return no media; widgets include their own."""
        return forms.Media()

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row, locked if a transaction is to save it: otherwise one that someone else deletes meanwhile would be inserted again."""
        row = super().get_object(request, object_id, from_field)
        if row is None or request.method != "POST" or not connection.in_atomic_block:
            return row
        return self.model._default_manager.select_for_update(of=("self",), no_key=True).filter(pk=row.pk).first()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return BoundedChangeList

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Add `list_context`, unless Django redirects."""
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None and "cl" in response.context_data:
            response.context_data |= self.list_context(request, response.context_data["cl"])
        return response

    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        """Validate the form again when the database refuses a value that another request has saved since: it is then an error of its field."""
        try:
            return super().changeform_view(*args, **kwargs)
        except IntegrityError:
            return super().changeform_view(*args, **kwargs)

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Return additional template context of the list."""
        return {}

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Also refuse NUL, which PostgreSQL does not accept in text."""
        return "\x00" not in value and super().lookup_allowed(lookup, value, request)

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> tuple[QuerySet[Any], bool]:
        """Truncate the search term, because each word adds a condition on each field."""
        return super().get_search_results(request, queryset, search_term[: bounds.ADMIN_SEARCH_CHARS])

    def get_list_display(self, request: HttpRequest) -> Any:
        """Display each field as `column` says."""
        return [self.shown(name) for name in super().get_list_display(request)]

    def shown(self, name: Any) -> Any:
        """Return the display function of a field, or the name if Django's display is used."""
        return name if hasattr(self, str(name)) else column(self.model, name)


class EditableAdmin(MarketplaceModelAdmin):
    """Rows that staff edit, and a service saves; they are not deleted, because other data refers to them or was decided by them."""

    # The service, and its argument for the row.
    saved_by: tuple[Callable[..., object], str]
    # Fields that are read-only once the row exists.
    fixed_fields: tuple[str, ...] = ("slug",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.fixed_fields if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        service, argument = self.saved_by
        service(**{argument: obj}, changed=form.changed_data, actor=request.user)
