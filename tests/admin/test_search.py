"""The admin's search: what is found, by whom, and at what cost."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from developers.models import AccessToken, ApiKey, App
from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.models import AuditEntry
from marketplace.review.service import ServiceAdmin
from tests.admin import subjects
from tests.admin.pages import address, staff, text_of
from tests.callers import signed_in
from tests.catalog.cases import published
from tests.factories import AppFactory, UserFactory
from vendors.models import VendorProfile
from wallet.models import Order

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SEARCH = reverse("admin-search")


def found(client: Client, q: Any) -> dict[str, list[str]]:
    page = BeautifulSoup(client.get(SEARCH, {"q": q}).content, "html.parser")
    return {
        str(part.h2 and part.h2.get_text(strip=True)): [str(link["href"]) for link in part.select("li a")]
        for part in page.select(".found .panel")
    }


def test_admin_search_is_for_staff_only(client: Client) -> None:
    assert client.get(SEARCH, {"q": "x"}, follow=True).redirect_chain[-1][0].startswith("/account/login")
    assert signed_in(UserFactory()).get(SEARCH, {"q": "x"}, follow=True).status_code == 403
    assert signed_in(staff()).post(SEARCH, {"q": "x"}).status_code == 405


def test_only_what_the_staff_user_may_view_is_found() -> None:
    app = AppFactory(user=UserFactory(email="asha@example.com"))
    assert found(signed_in(staff()), "asha@example.com") == {}
    assert set(found(signed_in(staff("accounts.view_user")), "asha@example.com")) == {"Users"}
    only_apps = found(signed_in(staff("developers.view_app")), "asha@example.com")
    assert only_apps == {"Apps": [address(App, "change", app.pk)]}


def test_malformed_search_term_finds_nothing(root: Client) -> None:
    UserFactory(email="asha@example.com")
    for q in ("", "\x00", "'", "💥", "x" * 5000, "(", "\\", "…", "@"):
        response = root.get(SEARCH, {"q": q}, follow=True)
        assert response.status_code == 200, q
        assert "asha@example.com" not in text_of(response), q


def test_sql_wildcards_in_the_admin_search_are_literal(root: Client) -> None:
    UserFactory(email="asha@example.com", name="Asha")
    assert list(found(root, "asha@example.com")) == ["Users"]
    assert found(root, "as%") == {}
    assert found(root, "a_ha") == {}


def test_secret_is_searched_by_its_last_characters_and_removed_from_the_address(root: Client) -> None:
    app = AppFactory()
    key, secret = issue_api_key(app=app, name="production", actor=app.user)
    # However it was copied.
    for q, ending in ((f"Bearer {secret}", key.last_four), (f"'{secret}", key.last_four), ("whsec_aaaaaaaaaaaaWxyz", "Wxyz")):
        response = root.get(SEARCH, {"q": q})
        assert (response.status_code, response["Location"]) == (302, f"{SEARCH}?q={ending}")
    assert found(root, key.last_four)["Api keys"] == [address(ApiKey, "change", key.pk)]


def test_hash_of_a_secret_finds_nothing(root: Client) -> None:
    key = subjects.api_key()
    user = UserFactory()
    assert found(root, key.last_four).keys() & found(root, key.pk).keys()
    assert found(root, user.pk)
    for stored in (key.digest, user.password):
        assert found(root, stored) == {}


def test_exact_email_address_is_found_before_longer_ones(root: Client) -> None:
    for email in ("ashab@example.com", "asha@example.com.au", "asha@example.com"):
        UserFactory(email=email)
    links = found(root, "Asha@Example.com")["Users"]
    assert links == [address(User, "change", User.objects.get(email=e).pk) for e in ("asha@example.com", "asha@example.com.au")]


def test_more_than_five_search_results_link_to_the_filtered_list(root: Client) -> None:
    for number in range(7):
        UserFactory(email=f"many{number}@example.com")
    links = found(root, "many")["Users"]
    assert len(links) == 6
    assert links[-1] == f"{address(User, 'changelist')}?q=many"
    response: Any = root.get(links[-1])
    assert len(response.context_data["cl"].result_list) == 7


def test_listing_is_found_by_id_slug_store_and_as_buyers_search(root: Client) -> None:
    listing = published(title="Grotesk of the north", slug="grotesk-north")
    page = address(Listing, "change", listing.pk)
    for q in (listing.pk, "grotesk-north", listing.store.slug, listing.store.owner.email, "grotsek"):
        assert found(root, q)["Listings"] == [page], q


def test_admin_search_covers_the_models_that_staff_ask_for() -> None:
    looked_up = {each.model for each in admin.site._registry.values() if isinstance(each, ServiceAdmin) and _finds(each)}
    assert {Order, User, App, Listing, VendorProfile, ApiKey, AccessToken, AuditEntry} <= looked_up


def _finds(model_admin: ServiceAdmin) -> bool:
    return type(model_admin).find is not ServiceAdmin.find


def test_request_is_found_in_the_audit_log(root: Client) -> None:
    entry = audit.record("user.export", UserFactory(), actor=None)
    response = root.get(reverse("admin:index"), headers={"X-Request-Id": "req-4711"})
    assert response.status_code == 200
    other = AuditEntry.objects.create(action="user.export", subject_type="x", subject_id="1", request_id="req-4711")
    assert found(root, "req-4711") == {"Audit entries": [address(AuditEntry, "change", other.pk)]}
    # By the id of an entry, and of what it is about.
    for q in (entry.pk, entry.subject_id):
        assert found(root, q)["Audit entries"] == [address(AuditEntry, "change", entry.pk)]


@pytest.mark.postgres
def test_admin_search_uses_an_index_in_every_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("set enable_seqscan = off")
        for model_admin in filter(_finds, (each for each in admin.site._registry.values() if isinstance(each, ServiceAdmin))):
            for q in ("asha@example.com", str(subjects.NOBODY), "asha", "Ab3d"):
                for condition in model_admin.find(subjects.query(q)) or ():
                    plan = model_admin.model._default_manager.order_by().filter(condition).values("pk")[:6].explain()
                    assert "Seq Scan" not in plan, (model_admin, q, plan)
