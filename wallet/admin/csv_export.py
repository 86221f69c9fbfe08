"""A list of the admin as CSV, with the filters of the page."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponseBase
from django.urls import path, reverse

from marketplace.http.refusals import allow_methods
from marketplace.review.service import ServiceAdmin, staff_of

from ..spreadsheets import csv_response

_CHUNK = 500


class CsvExportAdmin(ServiceAdmin):
    """Adds the export of the filtered rows, by a permission of its own, and `export_url` to the context of the list."""

    export_permission: ClassVar[str]
    export_filename: ClassVar[str]

    def export_lines(self, rows: Iterable[Any]) -> Iterator[str]:
        """Return the lines of the file."""
        raise NotImplementedError

    def get_urls(self) -> Any:
        export = self.admin_site.admin_view(allow_methods("GET")(self.export))
        return [path("export.csv", export, name=self._export_route), *super().get_urls()]

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Link to the export of the filtered rows."""
        context = super().list_context(request, changelist)
        if not staff_of(request).has_perm(self.export_permission):
            return context
        query = request.GET.urlencode()
        return context | {"export_url": reverse(f"admin:{self._export_route}") + (f"?{query}" if query else "")}

    def export(self, request: HttpRequest) -> HttpResponseBase:
        if not staff_of(request).has_perm(self.export_permission) or not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters as error:
            message = "a filter has a value that it does not accept"
            raise SuspiciousOperation(message) from error
        return csv_response(self.export_lines(rows.iterator(chunk_size=_CHUNK)), self.export_filename)

    @property
    def _export_route(self) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_export"
