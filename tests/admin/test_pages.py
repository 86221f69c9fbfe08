import re
from typing import Any
from urllib.parse import urlencode

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from bs4 import BeautifulSoup
from django.contrib import admin
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from catalog.catalog_version import current_version
from catalog.models import Category, Deliverable, LicenseTier, Listing, ListingReview, Store
from developers.models import AccessToken, ApiKey, App, DeveloperApplication
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.models import AuditEntry
from marketplace.review.base import MarketplaceModelAdmin
from marketplace.review.models import SavedReply, SavedReplyUse
from marketplace.storage import default_storage
from tests.admin import subjects
from tests.admin.pages import address, service_admins, staff, text_of
from tests.architecture.source import patterns
from tests.callers import signed_in
from tests.catalog.cases import published, submitted
from tests.factories import CategoryFactory, UserFactory
from tests.ops.person import MARKS, Person
from tests.ops.personal_data import HOLDINGS, SECRET
from wallet.models import WalletOwner

pytestmark = pytest.mark.django_db
NOTHING = "0198c0de-0000-7000-8000-000000000000"


def test_every_registered_admin_uses_our_base_class() -> None:
    assert all(isinstance(model_admin, MarketplaceModelAdmin) for model_admin in admin.site._registry.values())


def test_library_models_with_secrets_are_not_in_the_admin() -> None:
    names = {model._meta.label for model in admin.site._registry}
    assert not names & {
        "developers.RefreshToken",
        "developers.Grant",
        "developers.IDToken",
        "mfa.Authenticator",
        "account.EmailConfirmation",
        "oauth2_provider.DeviceGrant",
    }


def test_admins_of_service_models_have_no_bulk_actions() -> None:
    for model_admin in service_admins():
        assert list(model_admin.actions or ()) == []


def test_every_decision_outside_the_table_refuses_staff_without_its_permission() -> None:
    """Those about money, and the release of a claim; the others are in `test_decisions.py`."""
    decisions = {(each.model, name): settings.permission for each in service_admins() for name, settings in each.decisions().items()}
    listed = {(case.permission, case.name) for case in subjects.CASES}
    apart = {key: permission for key, permission in decisions.items() if (permission, key[1]) not in listed}
    assert len(apart) > 3
    for (model, name), permission in apart.items():
        client, page = signed_in(staff(*set(decisions.values()) - {permission})), address(model, name, NOTHING)
        assert client.post(page, {"reason": "x"}).status_code == 403, page
        assert client.get(page).status_code == 403, page


def test_every_page_sends_the_anonymous_to_sign_in(client: Client) -> None:
    for page in (reverse("admin:index"), *(address(model, "changelist") for model in admin.site._registry)):
        response = client.get(page)
        assert response.status_code == 302, page
        assert response["Location"].startswith("/admin/login/"), page
    assert client.get(response["Location"])["Location"].startswith("/account/login")


@pytest.mark.slow
def test_admins_of_service_models_refuse_add_change_and_delete(root: Client) -> None:
    for model_admin in service_admins():
        assert root.get(address(model_admin.model, "add")).status_code == 403
        assert root.post(address(model_admin.model, "add"), {}).status_code == 403
    row = published()
    assert root.post(address(Listing, "change", row.pk), {"status": "Draft", "title": "Mine"}).status_code == 403
    assert root.post(address(Listing, "delete", row.pk), {"post": "yes"}).status_code == 403
    row.refresh_from_db()
    assert row.status == "Published"


def test_no_page_of_the_admin_opens_for_staff_without_permissions() -> None:
    client, found = signed_in(staff()), {}
    for route, _ in patterns(get_resolver()):
        if route.startswith("admin/") and "(?P" not in route:
            path = re.sub(r"<[\w:]+>", NOTHING, re.sub(r"<int:\w+>", "1", f"/{route}"))
            status = client.get(path).status_code
            found[path.removeprefix("/admin/").replace(NOTHING, "*")] = client.post(path).status_code if status == 405 else status
    assert {path for path, status in found.items() if status == 200} == {"", "search", "jsi18n/"}
    # Django redirects where there is no such row.
    redirected = {path for path, status in found.items() if status == 302 and not path.endswith(("*/", "*/history/"))}
    assert redirected == {"login/", "logout/", "password_change/", "password_change/done/"}
    assert set(found.values()) == {200, 302, 403}


def test_sidebar_shows_what_waits_to_who_may_look() -> None:
    submitted()
    subjects.application()
    editor = text_of(signed_in(staff("catalog.review_listing")).get(reverse("admin:index")))
    assert "Listings to review 1" in editor
    assert "Developer applications" not in editor
    assert "Listings to review" not in text_of(signed_in(staff()).get(reverse("admin:index")))


def test_no_secret_or_hash_is_shown(root: Client) -> None:
    person, keeping = Person(), [holding for holding in HOLDINGS if SECRET in holding.hidden]
    secrets = {MARKS[holding.name, column] for holding in keeping for column in holding.hidden[SECRET].split()}
    rows = [person.rows[holding.name] for holding in keeping if holding.model in admin.site._registry]
    assert len(rows) == 5
    lists = [address(model, "changelist") for model in admin.site._registry]
    for page in (*lists, *(address(type(row), "change", row.pk) for row in rows)):
        response = root.get(page)
        assert response.status_code == 200, page
        shown = response.content.decode()
        assert not [secret for secret in secrets if secret in shown], page


@pytest.mark.database_full
def test_list_lookup_without_a_filter_is_refused_without_a_query(root: Client) -> None:
    lookups: list[tuple[type[Any], str]] = [
        *((User, f"password{suffix}") for suffix in ("", "__startswith", "__in")),
        *((WalletOwner, "password"), (ApiKey, "digest__startswith"), (AccessToken, "token_checksum"), (App, "client_secret__in")),
        *((Listing, name) for name in ("short_description__regex", "title__iregex", "store__owner__email__contains", "status__regex")),
        *((User, "email__regex"), (Group, "name__regex")),
    ]
    for model, lookup in lookups:
        with CaptureQueriesContext(connection) as asked:
            answer = root.get(address(model, "changelist"), {lookup: "(a+)+$"})
        # Django leads back to the unfiltered list, marked as an error.
        assert answer.status_code in {302, 400}, lookup
        assert not [query for query in asked if "a+" in query["sql"] or "REGEXP" in query["sql"]], lookup


def test_admin_redirect_to_any_object_is_not_found(root: Client) -> None:
    content_type = ContentType.objects.get_for_model(Listing)
    assert {root.get(f"/admin/r/{content_type.pk}/{key}/").status_code for key in ("1", NOTHING)} == {404}


@pytest.mark.slow
def test_facet_counts_of_filters_are_disabled(root: Client, django_assert_max_num_queries: Any) -> None:
    with CaptureQueriesContext(connection) as plain:
        root.get(address(Listing, "changelist"))
    with django_assert_max_num_queries(len(plain)):
        root.get(address(Listing, "changelist"), {"_facets": "1"})


def test_reviewer_downloads_the_file_and_nobody_else(client: Client) -> None:
    row = subjects.deliverable()
    default_storage.save_bytes(row.object_key, b"x" * row.file_size)
    page = address(Deliverable, "download", row.pk)
    assert client.get(page).status_code == 302
    assert signed_in(staff("catalog.view_deliverable")).get(page).status_code == 403
    # Who may not download it finds no link to it.
    for permission, linked in (("catalog.view_deliverable", False), ("catalog.block_deliverable", True)):
        shown = signed_in(staff(permission)).get(address(Deliverable, "change", row.pk))
        assert (page in shown.content.decode()) == linked
    reviewer = signed_in(staff("catalog.review_listing"))
    assert reviewer.post(page).status_code == 405
    response = reviewer.get(page)
    assert b"".join(response) == b"x" * row.file_size
    assert "attachment" in response["Content-Disposition"]


@pytest.mark.database_full
def test_category_edit_ends_cached_responses_and_is_audited(root: Client) -> None:
    category = CategoryFactory()
    before = current_version()
    page = address(Category, "change", category.pk)
    # The slug is first, although it can no longer be changed.
    assert root.get(page).context["adminform"].fieldsets[0][1]["fields"][:2] == ("slug", "name")
    answers = {"name": "Typefaces", "sort_order": "3", "metadata": "{}", "is_active": "on", "description": "", "icon": ""}
    root.post(page, answers)
    category.refresh_from_db()
    assert category.name == "Typefaces"
    assert current_version() != before
    assert AuditEntry.objects.get(action="category.update").data["changed"]
    assert root.post(address(Category, "delete", category.pk), {"post": "yes"}).status_code == 403


@pytest.mark.database_full
def test_category_that_the_api_could_not_return_or_name_is_an_error_in_the_form(root: Client) -> None:
    page, answers = address(Category, "add"), {"name": "Brushes", "slug": "brushes", "sort_order": "9", "metadata": "{}", "is_active": "on"}
    wrong = [("metadata", text) for text in ("[1]", "3", '"x"', '{"a": NaN}', r'{"a": "\u0000"}')]
    for name, value in (*wrong, *(("slug", slug) for slug in ("Brushes", "my_brushes", "my--brushes"))):
        response = root.post(page, answers | {name: value})
        assert (response.status_code, response.context["adminform"].errors.keys()) == (200, {name}), value
    # Not what Django says of a slug, which may have an underscore.
    response = root.post(page, answers | {"slug": "Über_x"})
    assert response.context["adminform"].errors["slug"] == ["Use lower-case letters, digits and single hyphens between them."]
    assert root.post(page, answers | {"metadata": ""}).status_code == 302
    items = {item["slug"]: item for item in Client().get("/api/v1/categories").json()["items"]}
    assert items["brushes"]["metadata"] == {}


@pytest.mark.database_full
def test_licence_factor_below_zero_is_an_error_in_the_form(root: Client) -> None:
    tier = LicenseTier.objects.get(slug="personal")
    answers = {"name": tier.name, "summary": tier.summary, "price_factor": "-1", "sort_order": "1"}
    response = root.post(address(LicenseTier, "change", tier.pk), answers)
    assert response.status_code == 200
    tier.refresh_from_db()
    assert tier.price_factor > 0


def test_staff_without_second_factor_are_sent_to_set_it_up(settings: Any) -> None:
    settings.ADMIN_REQUIRES_SECOND_FACTOR = True
    user = UserFactory(is_staff=True, is_superuser=True)
    client = signed_in(user)
    case = subjects.review()
    page = address(ListingReview, "approve", case.pk)
    for response in (client.get(page), client.get(reverse("admin:index")), client.post(page, subjects.APPROVAL)):
        assert (response.status_code, response["Location"]) == (302, reverse("mfa_index"))
    case.refresh_from_db()
    assert case.status == "Pending"
    TOTP.activate(user, generate_totp_secret())
    assert signed_in(user).get(page).status_code == 200


def test_groups_are_for_superusers(root: Client) -> None:
    page = address(Group, "changelist")
    assert signed_in(staff("auth.view_group", "auth.change_group", "auth.add_group")).get(page).status_code == 403
    assert root.get(page).status_code == 200


@pytest.mark.slow
@pytest.mark.database_full
def test_texts_of_users_are_escaped_on_every_admin_page(root: Client) -> None:
    mark = "<img src=x onerror=alert(1)>\"'"
    application, review, vendor = subjects.application(), subjects.review(), subjects.vendor()
    app, key, listing = subjects.approved_app(), subjects.api_key(), subjects.listing_on_sale()
    request = subjects.scope_review()
    entry = audit.record("app.suspend", app, actor=UserFactory(is_staff=True, name=mark), from_state=mark, to_state=mark[:20], reason=mark)
    DeveloperApplication.objects.update(company=mark, what=mark, why=mark)
    App.objects.update(name=mark, purpose=mark)
    ApiKey.objects.update(name=mark)
    Store.objects.update(name=mark)
    Listing.objects.update(title=mark, description=mark)
    ListingReview.objects.update(findings=[{"code": "other", "field": mark, "message": mark, "hint": mark}], note=mark)
    SavedReply.objects.create(use=SavedReplyUse.APPLICATION_REJECT, text=mark)
    User.objects.update(name=mark)
    paths = [
        reverse("admin:index"),
        *(f"{reverse('admin-search')}?{urlencode({'q': q})}" for q in (mark, "<img", "@example.com", app.pk)),
        *(address(type(row), "change", row.pk) for row in (application, review, vendor, app, key, listing, request, entry)),
        *(
            address(model, "changelist")
            for model in (DeveloperApplication, ListingReview, App, ApiKey, Listing, User, AuditEntry, SavedReply)
        ),
        address(App, "suspend", app.pk),
        address(ApiKey, "revoke", key.pk),
        address(Listing, "takedown", listing.pk),
    ]
    for path in paths:
        response = root.get(path, follow=True)
        assert response.status_code == 200, path
        assert not BeautifulSoup(response.content, "html.parser").select('img[src="x"], [onerror]'), path


@pytest.mark.database_full
def test_list_can_be_searched_within_a_category(root: Client) -> None:
    listing = published()
    answer = root.get(address(Listing, "changelist"), {"q": listing.slug, "category__id__exact": str(listing.category_id)})
    assert answer.status_code == 200
    assert str(listing.pk) in answer.content.decode()


@pytest.mark.database_full
def test_list_is_ordered_by_each_column_once_and_searched_for_the_beginning_of_a_text(root: Client) -> None:
    parameters = {"o": ".".join(["1"] * 1_500), "q": "a " * 1_500}
    with CaptureQueriesContext(connection) as asked:
        assert root.get(address(Group, "changelist"), parameters).status_code == 200
    assert max(len(query["sql"]) for query in asked) < 20_000
