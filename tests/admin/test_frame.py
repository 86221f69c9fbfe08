"""What stands on every page of the admin: the menu, the ways in and out, lists and forms as our pages have them."""

from itertools import product
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from catalog.admin.listings import ListingAdmin
from catalog.admin.taxonomy import CategoryAdmin
from catalog.models import Category, Listing, ListingReview
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.models import AuditEntry
from marketplace.review.decisions import Decision, decision
from tests.admin import subjects
from tests.admin.pages import address, fill, staff, text_of
from tests.callers import signed_in
from tests.factories import CategoryFactory

pytestmark = pytest.mark.django_db
HOME = reverse("admin:index")


def soup_of(client: Client, path: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(path).content, "html.parser")


@pytest.mark.slow
def test_admin_page_of_a_row_links_back_to_its_filtered_list(root: Client) -> None:
    review = address(ListingReview, "change", subjects.review().pk)
    crumb = soup_of(root, f"{review}?_changelist_filters=kind%3DListing").select_one(".crumb a")
    assert crumb is not None
    assert (crumb.get_text(strip=True), crumb["href"]) == ("Listings to review", f"{address(ListingReview, 'changelist')}?kind=Listing")


@pytest.mark.slow
def test_admin_addresses_of_passwords_and_sign_out_redirect_to_the_account_pages(root: Client) -> None:
    places = {"password_change": "account_change_password", "password_change_done": "account_change_password", "logout": "account_logout"}
    for (name, leads_to), ask in product(places.items(), (root.get, root.post)):
        response = ask(reverse(f"admin:{name}"), {"old_password": "x", "new_password1": "y", "new_password2": "y"})
        assert (response.status_code, response["Location"]) == (302, reverse(leads_to))
    assert root.get(HOME).status_code == 200


def test_column_head_links_to_the_reverse_order_and_to_no_order(root: Client) -> None:
    CategoryFactory()
    head = soup_of(root, f"{address(Category, 'changelist')}?o=1").select_one("th[aria-sort]")
    assert head is not None
    assert [str(link["href"]) for link in head.select("a")] == ["?o=-1", "?o="]


def test_long_list_has_pages(root: Client) -> None:
    Category.objects.all().delete()
    Category.objects.bulk_create(Category(slug=f"c{n}", name=f"C {n}") for n in range(120))
    last = soup_of(root, f"{address(Category, 'changelist')}?p=3")
    assert len(last.select("#result_list tbody tr")) == 20
    assert [link["href"] for link in last.select('nav[aria-label="Pages"] a')] == ["?p=1", "?p=2"]
    assert "120 categories" in last.get_text()


def test_admin_form_shows_errors_at_its_fields_and_keeps_the_input(root: Client) -> None:
    response = root.post(address(Category, "add"), {"name": "Typed", "slug": "no slug!", "metadata": "{"})
    page = BeautifulSoup(response.content, "html.parser")
    assert "It has not been saved" in page.get_text()
    assert page.select_one("#id_name[value=Typed]")
    assert len(page.select(".field .errorlist")) >= 2


@pytest.mark.slow
def test_history_of_a_row_tells_who_changed_it(root: Client, reviewer: User) -> None:
    page = address(Category, "change", CategoryFactory().pk)
    form = soup_of(root, page).select_one("form.edit")
    assert form is not None
    root.post(page, fill(form, {"name": "Renamed"}))
    words = text_of(root.get(page.replace("/change/", "/history/")))
    assert "Changed Name" in words
    assert reviewer.email in words


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_history_of_a_row_that_is_asked_for_by_post_is_shown(root: Client) -> None:
    assert root.post(address(Category, "history", CategoryFactory().pk)).status_code == 200


@pytest.mark.slow
def test_group_is_composed_and_deleted_with_boxes_and_buttons_which_the_audit_log_tells(root: Client, reviewer: User) -> None:
    page = soup_of(root, address(Group, "add"))
    boxes = page.select('input[type="checkbox"][name="permissions"]')
    assert len(boxes) == Permission.objects.count()
    chosen = Permission.objects.get(codename="review_listing")
    root.post(address(Group, "add"), {"name": "Editors", "permissions": [chosen.pk]})
    group = Group.objects.get(name="Editors")
    assert list(group.permissions.all()) == [chosen]
    assert history_of(group).get().data == {"name": "Editors", "before": [], "after": ["catalog.review_listing"]}
    page = soup_of(root, address(Group, "change", group.pk))
    assert [box["value"] for box in page.select("input[name=permissions][checked]")] == [str(chosen.pk)]
    form = soup_of(root, address(Group, "delete", group.pk)).select_one("form:has(input[name=post])")
    assert form is not None
    root.post(address(Group, "delete", group.pk), fill(form, {}))
    assert not Group.objects.filter(pk=group.pk).exists()
    deletion = AuditEntry.objects.get(action="group.delete")
    assert (deletion.actor, deletion.data) == (reviewer, {"name": "Editors", "before": ["catalog.review_listing"]})


@pytest.mark.slow
def test_several_groups_are_deleted_after_asking(root: Client) -> None:
    groups = [Group.objects.create(name=name) for name in ("One", "Two", "Three")]
    ticked = {"action": "delete_selected", "_selected_action": [group.pk for group in groups[:2]]}
    listed = soup_of(root, address(Group, "changelist"))
    assert listed.select_one('#changelist-form button[name="action"][value="delete_selected"]')
    asked = BeautifulSoup(root.post(address(Group, "changelist"), ticked).content, "html.parser")
    assert all(name in asked.get_text() for name in ("One", "Two"))
    form = asked.select_one("form:has(input[name=post])")
    assert form is not None
    assert Group.objects.count() == 3
    root.post(address(Group, "changelist"), {"post": "yes", **ticked})
    assert list(Group.objects.values_list("name", flat=True)) == ["Three"]
    assert AuditEntry.objects.filter(action="group.delete").count() == 2
    assert root.post(address(Group, "changelist"), {"action": "delete_selected"}, follow=True).status_code == 200


def test_app_page_lists_what_the_user_may_look_at() -> None:
    words = text_of(signed_in(staff("catalog.view_listing")).get(f"{HOME}catalog/"))
    assert "Listings" in words
    assert "Categories" not in words


def test_system_check_finds_a_decision_with_an_unknown_permission() -> None:
    class Careless(ListingAdmin):
        @decision(Decision("Do", "catalog.nothing_listing", "It is done.", "Done."))
        def do(self, *_args: Any) -> None:
            """Do it."""

        decision_names = ("do",)

    assert [fault.id for fault in Careless(Listing, admin.site).check()] == ["core.E001"]
    assert CategoryAdmin(Category, admin.site).check() == []
