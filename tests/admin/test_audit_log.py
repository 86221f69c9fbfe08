"""The audit log in words: subjects by name, actions and states as people read them, amounts with their currency."""

from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.models import AuditEntry
from tests.factories import AppFactory, ListingFactory

from .pages import address, staff

pytestmark = pytest.mark.django_db


def cells(page: bytes, column: str) -> list[str]:
    return [cell.get_text(" ", strip=True) for cell in BeautifulSoup(page, "html.parser").select(f"td.field-{column}")]


@pytest.mark.slow
def test_audit_entry_names_its_subject_and_links_to_it(browse: Callable[..., Client], reviewer: User) -> None:
    listing = ListingFactory(title="Halden Grotesk")
    audit.record("listing.approve", listing, actor=reviewer, from_state="PendingReview", to_state="Published", review="1")
    page = browse(reviewer).get(address(AuditEntry, "changelist"))
    assert cells(page.content, "what")[0] == "Listing: approve"
    assert cells(page.content, "subject")[0] == "Listing Halden Grotesk"
    assert "PendingReview" not in cells(page.content, "outcome")[0]
    link = f'href="{address(type(listing), "change", listing.pk)}"'
    assert link in page.content.decode()
    row = browse(reviewer).get(address(AuditEntry, "change", AuditEntry.objects.latest("id").pk))
    assert link in row.content.decode()
    assert link in browse(reviewer).get("/admin/").content.decode()


def test_audit_entry_of_a_deleted_or_hidden_subject_has_no_link(browse: Callable[..., Client], reviewer: User) -> None:
    gone, hidden = ListingFactory(), AppFactory(name="Secret project")
    for subject in (gone, hidden):
        audit.record("user.export", subject, actor=reviewer)
    gone.delete()
    page = browse(staff("core.view_auditentry")).get(address(AuditEntry, "changelist"))
    assert cells(page.content, "subject")[:2] == ["App", "Listing"]
