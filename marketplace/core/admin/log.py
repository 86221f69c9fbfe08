"""The audit log in the admin."""

from django.contrib import admin

from ..models import AuditEntry
from .service import ServiceAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ServiceAdmin):
    """The log of decisions and credentials: read, never written here."""

    list_display = ("at", "action", "actor", "subject_type", "from_state", "to_state", "reason")
    list_filter = ("subject_type", "action")
    list_select_related = ("actor",)
    search_fields = ("subject_id", "request_id", "actor__email")
    ordering = ("-id",)
