"""The audit log in words: subjects by name, actions and states as people read them, amounts with their currency."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from library.models import Licence
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.models import AuditEntry
from tests.factories import AppFactory, ListingFactory, UserFactory
from tests.shop import bought, on_sale
from wallet.models import Journal, Order, WalletOwner

from .pages import address, staff, text_of

pytestmark = pytest.mark.django_db

Queries = Callable[[int], AbstractContextManager[object]]


@pytest.fixture
def admin() -> User:
    user: User = UserFactory(is_staff=True, is_superuser=True)
    return user


def cells(page: bytes, column: str) -> list[str]:
    """Return the text of a column of a list."""
    return [cell.get_text(" ", strip=True) for cell in BeautifulSoup(page, "html.parser").select(f"td.field-{column}")]


@pytest.mark.slow
def test_audit_entry_names_its_subject_and_links_to_it(browse: Callable[..., Client], admin: User) -> None:
    listing = ListingFactory(title="Halden Grotesk")
    audit.record("listing.approve", listing, actor=admin, from_state="PendingReview", to_state="Published")
    page = browse(admin).get(address(AuditEntry, "changelist"))
    assert cells(page.content, "what")[0] == "Listing: approve"
    assert cells(page.content, "subject")[0] == "Listing Halden Grotesk"
    assert "PendingReview" not in cells(page.content, "outcome")[0]
    link = f'href="{address(type(listing), "change", listing.pk)}"'
    assert link in page.content.decode()
    row = browse(admin).get(address(AuditEntry, "change", AuditEntry.objects.latest("id").pk))
    assert link in row.content.decode()
    assert link in browse(admin).get("/admin/").content.decode()


def test_audit_entry_of_a_deleted_or_hidden_subject_has_no_link(browse: Callable[..., Client], admin: User) -> None:
    gone, hidden = ListingFactory(), AppFactory(name="Secret project")
    for subject in (gone, hidden):
        audit.record("thing.touch", subject, actor=admin)
    gone.delete()
    page = browse(staff("core.view_auditentry")).get(address(AuditEntry, "changelist"))
    assert cells(page.content, "subject")[:2] == ["App", "Listing"]


@pytest.mark.slow
def test_audit_log_of_many_kinds_of_subjects_sends_few_queries(
    browse: Callable[..., Client], admin: User, django_assert_max_num_queries: Queries
) -> None:
    order = bought(on_sale())
    for subject in (order, admin, ListingFactory(), AppFactory(), Licence.objects.get(), order.listing.store, order.listing.category):
        for number in range(3):
            audit.record("thing.touch", subject, actor=UserFactory(), number=number)
    client = browse(admin)
    with django_assert_max_num_queries(15):
        assert client.get(address(AuditEntry, "changelist")).status_code == 200


@pytest.mark.slow
def test_admin_rows_have_readable_names_and_amounts_with_currency(browse: Callable[..., Client], admin: User) -> None:
    order = bought(on_sale(title="Halden Grotesk", price_inr_minor=49_900))
    client = browse(admin)
    for model, row in ((Order, order), (Licence, Licence.objects.get()), (Journal, Journal.objects.get(order=order))):
        page = BeautifulSoup(client.get(address(model, "change", row.pk)).content, "html.parser")
        assert page.h1 is not None
        assert str(row.pk) not in page.h1.get_text()
    shown = text_of(client.get(address(Order, "change", order.pk)))
    assert "₹499.00" in shown
    assert "49900" not in shown
    wallets = client.get(address(WalletOwner, "changelist")).content
    assert set(cells(wallets, "balance_inr")) >= {"₹0.00"}
