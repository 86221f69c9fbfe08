"""The admin of licence terms: a change is a new version, made by those who may."""

from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import Permission
from django.test import Client

from catalog.models import LicenseTerms, LicenseTier
from marketplace.core.models import AuditEntry
from tests.callers import signed_in
from tests.factories import UserFactory

from .pages import address, fill

pytestmark = pytest.mark.django_db


def new_terms(client: Client) -> dict[str, str]:
    page = client.get(address(LicenseTerms, "add"), {"tier": str(LicenseTier.objects.get(slug="commercial").pk)})
    form = BeautifulSoup(page.content, "html.parser").find("form", id="licenseterms_form")
    assert isinstance(form, Tag)
    return fill(form, {})


@pytest.mark.slow
def test_change_of_the_terms_is_a_new_version(root: Client) -> None:
    before = LicenseTerms.objects.get(tier__slug="commercial")
    asked = new_terms(root)
    assert (asked["print_run_quantity"], asked["app_permission"]) == ("10000", "not_said")
    changed = {name: value.replace("10,000 copies", "500 copies") for name, value in asked.items()}
    response = root.post(address(LicenseTerms, "add"), changed | {"print_run_quantity": "500", "merchandise_quantity": "500"})
    assert response.status_code == 302, BeautifulSoup(response.content, "html.parser").find_all(class_="errorlist")
    after = LicenseTerms.objects.get(tier__slug="commercial", version=2)
    assert after.text.split() == before.text.replace("10,000 copies", "500 copies").split()
    assert {use for use in after.permissions if after.permissions[use]["quantity"] == 500} == {"print_run", "merchandise"}
    assert after.permissions.keys() == before.permissions.keys()
    assert AuditEntry.objects.filter(action="licenseterms.create", subject_id=str(after.pk)).exists()
    # The same form once more, as by the back button.
    again = root.post(address(LicenseTerms, "add"), changed | {"print_run_quantity": "500", "merchandise_quantity": "500"})
    assert "These are the present terms already." in again.content.decode()
    assert not LicenseTerms.objects.filter(version=3).exists()


@pytest.mark.parametrize(
    "wrong", [{"app_permission": "allowed"}, {"app_permission": "allowed", "app_clause": "Not in the text."}, {"team_quantity": "0"}]
)
def test_permission_without_its_clause_or_quantity_is_an_error_in_the_form(root: Client, wrong: dict[str, Any]) -> None:
    assert root.post(address(LicenseTerms, "add"), new_terms(root) | wrong).status_code == 200
    assert not LicenseTerms.objects.filter(version=2).exists()


def test_version_of_licence_terms_is_shown_and_cannot_be_changed(root: Client) -> None:
    terms = LicenseTerms.objects.get(tier__slug="commercial")
    page = address(LicenseTerms, "change", terms.pk)
    assert terms.sha256 in root.get(page).content.decode()
    assert root.post(page, {"text": "x"}).status_code == 403
    assert root.post(address(LicenseTerms, "delete", terms.pk), {"post": "yes"}).status_code == 403


def test_staff_without_the_permission_publish_no_terms() -> None:
    staff = UserFactory(is_staff=True)
    staff.user_permissions.set(Permission.objects.exclude(codename="add_licenseterms"))
    client = signed_in(staff)
    assert client.get(address(LicenseTerms, "add")).status_code == 403
    assert client.post(address(LicenseTerms, "add"), {"text": "x"}).status_code == 403
    assert not LicenseTerms.objects.filter(version=2).exists()


def test_licence_without_terms_is_not_sold(root: Client) -> None:
    asked = {"slug": "team", "name": "Team", "summary": "For teams.", "price_factor": "3", "sort_order": "5", "is_active": "on"}
    assert root.post(address(LicenseTier, "add"), asked).status_code == 200
    assert not LicenseTier.objects.filter(slug="team").exists()
    del asked["is_active"]
    assert root.post(address(LicenseTier, "add"), asked).status_code == 302
