"""The operator's pages: written in the admin, and missed by the doctor until then."""

from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from marketplace.core.models import AuditEntry
from marketplace.operations.doctor.findings import Status
from marketplace.operations.doctor.services import check_site_pages
from marketplace.operations.models import SITE_PAGE_CHARS, SitePage
from tests.admin.pages import staff
from tests.factories import UserFactory

from .markup import soup

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@pytest.mark.parametrize("slug", SitePage.Slug.values)
def test_every_page_links_to_the_site_pages_and_unwritten_ones_say_so(client: Client, slug: str) -> None:
    page = soup(client.get(f"/{slug}"))
    assert len(page.select(f".foot a[href='/{slug}']")) == 1
    assert len(page.select("main .note-warning")) == 1


def test_text_from_the_admin_is_shown_safely(browse: Callable[..., Client], client: Client) -> None:
    editor = staff("operations.change_sitepage")
    text = "# Who we are\n\n<script>alert(1)</script>\n\n[Write](javascript:alert(1)) to **Acme Ltd**."
    change = reverse("admin:operations_sitepage_change", args=["contact"])
    assert browse(editor).post(change, {"text": text}).status_code == 302
    page = BeautifulSoup(client.get("/contact").content, "html.parser").select_one("main")
    assert page is not None
    assert [heading.get_text() for heading in page.select("h2")] == ["Who we are"]
    assert (page.select("script"), page.select("a[href^=javascript]"), page.select(".note-warning")) == ([], [], [])
    assert AuditEntry.objects.get(action="sitepage.update").actor == editor


def test_page_may_be_as_long_as_the_browser_lets_it_be(browse: Callable[..., Client]) -> None:
    # A browser sends a line break as two characters.
    sent, change = "x\r\n" * (SITE_PAGE_CHARS // 2 - 1) + "x", reverse("admin:operations_sitepage_change", args=["terms"])
    assert browse(staff("operations.change_sitepage")).post(change, {"text": sent}).status_code == 302
    assert SitePage.objects.get(slug="terms").text == sent.replace("\r\n", "\n")


def test_staff_without_the_permission_cannot_write(browse: Callable[..., Client]) -> None:
    change = reverse("admin:operations_sitepage_change", args=["terms"])
    assert browse(UserFactory(is_staff=True)).post(change, {"text": "Ours"}).status_code == 403
    assert SitePage.objects.get(slug="terms").text == ""


def test_doctor_names_the_pages_that_are_not_written() -> None:
    SitePage.objects.exclude(slug="privacy").update(text="Written.")
    ((status, sentence, _),) = check_site_pages()
    assert status == Status.WARN
    assert "Privacy" in sentence
    assert "Contact" not in sentence
    SitePage.objects.update(text="Written.")
    assert [status for status, *_ in check_site_pages()] == [Status.OK]
