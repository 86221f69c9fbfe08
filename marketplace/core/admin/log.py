"""The audit log in the admin."""

from django.contrib import admin
from django.db.models import Q

from ..models import AuditEntry
from .finding import Words
from .service import ServiceAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ServiceAdmin):
    """The log of decisions and credentials: read, never written here."""

    list_display = ("at", "action", "actor", "subject_type", "from_state", "to_state", "reason")
    list_filter = ("subject_type", "action")
    list_select_related = ("actor",)
    search_fields = ("subject_id", "request_id", "actor__email")
    ordering = ("-id",)
    found_title, found_detail = "action", "request_id"

    def find(self, words: Words) -> list[Q]:
        """Look for a request, or an entry."""
        return [Q(request_id=words.text), *([Q(pk=words.id)] if words.id else [])]
