"""The admin of uploaded files: their details, a download for reviewers and the decision to block."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from marketplace.http.refusals import allow_methods
from marketplace.review.decisions import Decision, service_decision
from marketplace.review.service import ServiceAdmin
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange
from marketplace.storage.responses import serve_segments

from ..models import Deliverable
from ..services import review as services
from .reviews import REVIEW
from .takedowns import BLOCK, block_decision


def _may_download(request: HttpRequest) -> bool:
    return request.user.has_perm(REVIEW) or request.user.has_perm(BLOCK)


@admin.register(Deliverable)
class DeliverableAdmin(ServiceAdmin):
    """All deliverables, old ones included."""

    list_display = ("original_filename", "listing", "format", "file_size", "version", "uploaded_at", "approved_at", "blocked_at")
    list_filter = ("format",)
    list_select_related = ("listing",)
    search_fields = ("original_filename", "sha256", "listing__title", "listing__slug")
    fields = (
        "original_filename",
        "listing",
        "file",
        "format",
        "file_size",
        "sha256",
        "technical",
        "version",
        "uploaded_at",
        "approved_at",
        "blocked_at",
    )
    readonly_fields = ("file",)
    decision_names = ("block", "unblock")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Leave out the link to the file for staff who may not download it."""
        return [name for name in super().get_fields(request, obj) if name != "file" or _may_download(request)]

    @admin.display(description="File")
    def file(self, deliverable: Deliverable) -> str:
        return format_html('<a href="{}">Download to inspect</a>', reverse("admin:catalog_deliverable_download", args=[deliverable.pk]))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(allow_methods("GET")(self.download))
        return [path("<path:object_id>/download/", view, name="catalog_deliverable_download"), *super().get_urls()]

    def download(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Serve the original file, blocked or not, to users who may review listings or block files."""
        if not _may_download(request):
            raise PermissionDenied
        deliverable = self.get_object(request, object_id)
        if deliverable is None:
            raise Http404
        return serve_segments(
            request,
            segments=[StoredRange(default_storage, deliverable.object_key, 0, deliverable.file_size)],
            etag=deliverable.sha256,
            content_type="application/octet-stream",
            headers={"Cache-Control": "private, no-store"},
            filename=deliverable.original_filename,
            inline=False,
        )

    block = service_decision(
        block_decision(lambda deliverable: Deliverable.objects.filter(pk=deliverable.pk)), services.block_deliverable, "deliverable"
    )

    unblock = service_decision(
        Decision(
            "Unblock file",
            BLOCK,
            "For a file that was blocked by mistake, in all listings that have it: buyers can download it again where it was approved, and "
            "its vendors can submit it. They and whoever downloaded it get an email with your reason. Listings that were taken down with it stay off sale.",
            "The file was unblocked in all listings.",
            available=lambda deliverable: deliverable.blocked_at is not None,
        ),
        services.unblock_deliverable,
        "deliverable",
    )
