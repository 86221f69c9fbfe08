"""Making, reading and changing listings as their vendor."""

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from catalog.models import LicenseTier, Listing
from marketplace.core.audit import history_of
from tests.factories import CategoryFactory, ListingFactory
from vendors.models import VendorProfile
from vendors.studio.section_forms import details_form

from .cases import ASSETS, CREATE, PATCH, make_vendor, pointers, publish

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def test_created_listing_is_in_the_vendors_store_and_audited(client: APIClient, vendor: VendorProfile) -> None:
    emptied = dict.fromkeys(("description", "readme", "fileType", "supportedPlatforms", "version", "videoUrl", "aiParts"), "")
    nothing = {"priceInr": None, "priceEur": None}
    assert client.post(ASSETS, CREATE | emptied | nothing, format="json").status_code == 200
    listing = Listing.objects.get()
    assert (listing.store, listing.base_price_minor, listing.allowed_license_slugs) == (vendor.store, 1999, None)
    entry = history_of(listing).get()
    assert (entry.action, entry.actor) == ("listing.create", vendor.user)


def test_licences_and_tags_are_kept_in_order_each_once(client: APIClient) -> None:
    given = {"allowedLicenseSlugs": ["commercial", "personal", "commercial"], "tags": ["Sans", "warm", "sans"]}
    created = client.post(ASSETS, CREATE | given, format="json").json()
    record = client.get(f"{ASSETS}/{created['id']}").json()
    assert (record["allowedLicenseSlugs"], record["tags"]) == (["commercial", "personal"], ["sans", "warm"])
    assert record == client.get(f"{ASSETS}/aurora-sans").json()


def test_read_only_fields_are_ignored_on_create(client: APIClient) -> None:
    extra = {
        "id": "x",
        "vendorId": "x",
        "currency": "EUR",
        "status": "Published",
        "tierRequirement": "vip",
        "publishedAt": "2020-01-01T00:00:00Z",
    }
    answer = client.post(ASSETS, CREATE | extra, format="json").json()
    assert (answer["currency"], answer["status"]) == ("USD", "Draft")
    assert Listing.objects.get().tier_requirement == "free"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("", PATCH | {"priceInr": 5}, "#/priceInr"),
        ("/regional-prices", {"basePrice": 5}, "#/basePrice"),
        ("/licensing", {"priceEur": 5}, "#/priceEur"),
    ],
)
def test_field_of_another_operation_is_refused_with_an_error(
    path: str, body: dict[str, object], pointer: str, client: APIClient, listing: Listing
) -> None:
    assert pointers(client.patch(f"{ASSETS}/{listing.id}{path}", body, format="json")) == [(pointer, "set_elsewhere")]


@pytest.mark.parametrize("status", ["Rejected", "Published"])
def test_details_change_without_changing_the_status(status: str, client: APIClient, listing: Listing) -> None:
    if status == "Published":
        publish(listing)
    Listing.objects.update(status=status)
    body = PATCH | {"title": "Aurora Sans Pro", "version": "2.0", "tags": ["new"], "videoUrl": "https://example.com", "slug": "aurora-sans"}
    answer = client.patch(f"{ASSETS}/{listing.id}", body, format="json")
    assert (answer.status_code, answer.json()) == (200, {"id": str(listing.id), "title": "Aurora Sans Pro", "version": "2.0"})
    listing.refresh_from_db()
    assert (listing.status, listing.slug, listing.tags, listing.base_price_minor) == (status, "aurora-sans", ["new"], 1999)


def test_optional_details_left_out_keep_their_values_and_texts_can_be_emptied(client: APIClient, listing: Listing) -> None:
    numbers = {"discountPercent": 10, "taxRatePercent": 5, "tags": ["a"]}
    texts = {"fileType": "OTF", "supportedPlatforms": "macOS", "version": "1", "videoUrl": "https://example.com"}
    emptied = dict.fromkeys(texts, "")
    for sent, kept in ((numbers | texts, numbers | texts), ({}, numbers | texts), (emptied, numbers | emptied)):
        assert client.patch(f"{ASSETS}/{listing.id}", PATCH | sent, format="json").status_code == 200
        record = client.get(f"{ASSETS}/{listing.id}").json()
        assert {name: record[name] or "" for name in kept} == kept


def test_update_is_audited_with_what_changed_and_only_then(client: APIClient, listing: Listing, vendor: VendorProfile) -> None:
    for _ in range(2):
        client.patch(f"{ASSETS}/{listing.id}", PATCH | {"description": "x" * 500}, format="json")
    entry = history_of(listing).get()
    assert (entry.action, entry.actor) == ("listing.update", vendor.user)
    assert entry.data["changes"]["base_price_minor"] == [1000, 1999]
    assert "description" in entry.data["changed"]
    assert "category" not in entry.data["changed"]


def test_audit_log_names_changed_texts_and_keeps_none_of_them(client: APIClient, listing: Listing) -> None:
    texts = {
        "title": "Secret title",
        "shortDescription": "Secret words",
        "description": "Secret story",
        "version": "secret",
        "tags": ["secret"],
    }
    client.patch(f"{ASSETS}/{listing.id}", PATCH | texts | {"videoUrl": "https://secret.example/v"}, format="json")
    client.patch(f"{ASSETS}/{listing.id}/licensing", {"readme": "Secret advice"}, format="json")
    entries = list(history_of(listing))
    assert {name for entry in entries for name in entry.data["changed"]} >= {"title", "description", "readme", "tags", "video_url"}
    assert not any("secret" in str(entry.data).lower() for entry in entries)


@pytest.mark.slow
def test_edit_of_a_published_listing_is_found_at_once(client: APIClient, anonymous: APIClient, listing: Listing) -> None:
    publish(listing)
    client.patch(f"{ASSETS}/{listing.id}", PATCH | {"title": "Borealis Serif"}, format="json")
    client.patch(f"{ASSETS}/{listing.id}/regional-prices", {"priceInr": 499}, format="json")
    results = anonymous.get("/api/v1/assets/search", {"q": "boraelis"}).json()["results"]
    assert [result["id"] for result in results] == [str(listing.id)]
    items = anonymous.get("/api/v1/assets").json()["items"]
    assert [(item["title"], item["priceINR"]) for item in items] == [("Borealis Serif", 499)]


def test_omitted_regional_price_is_kept_and_null_clears_it(client: APIClient, listing: Listing) -> None:
    Listing.objects.update(price_inr_minor=1000, price_eur_minor=500)
    changes: list[tuple[dict[str, object], tuple[object, object]]] = [
        ({}, (10.0, 5.0)),
        ({"priceInr": 99.5}, (99.5, 5.0)),
        ({"priceInr": 0, "priceEur": None}, (0, None)),
        ({"priceInr": None}, (None, None)),
    ]
    for body, (inr, eur) in changes:
        answer = client.patch(f"{ASSETS}/{listing.id}/regional-prices", body, format="json")
        assert (answer.status_code, answer.json()) == (200, {"id": str(listing.id), "priceInr": inr, "priceEur": eur}), body


def test_omitted_licensing_is_kept_and_null_clears_it(client: APIClient, listing: Listing) -> None:
    Listing.objects.update(allowed_license_slugs=["personal"], readme="Old.")
    changes: list[tuple[dict[str, object], list[str] | None, str]] = [
        ({}, ["personal"], "Old."),
        ({"readme": "New."}, ["personal"], "New."),
        ({"allowedLicenseSlugs": ["extended", "personal"]}, ["extended", "personal"], "New."),
        ({"readme": None}, ["extended", "personal"], ""),
        ({"allowedLicenseSlugs": None}, None, ""),
    ]
    for body, slugs, readme in changes:
        answer = client.patch(f"{ASSETS}/{listing.id}/licensing", body, format="json")
        assert (answer.status_code, answer.json()) == (200, {"id": str(listing.id), "allowedLicenseSlugs": slugs}), body
        listing.refresh_from_db()
        assert (listing.allowed_license_slugs, listing.readme) == (slugs, readme)


@pytest.mark.slow
def test_retired_licence_that_is_permitted_can_be_sent_back_and_once_given_up_not(client: APIClient, listing: Listing) -> None:
    LicenseTier.objects.create(slug="retired", name="Retired", is_active=False)
    Listing.objects.filter(pk=listing.pk).update(allowed_license_slugs=["personal", "retired"])
    path = f"{ASSETS}/{listing.id}"
    read = client.get(path).json()
    assert client.patch(f"{path}/licensing", read, format="json").json()["allowedLicenseSlugs"] == ["personal", "retired"]
    assert client.patch(f"{path}/licensing", {"allowedLicenseSlugs": ["personal"]}, format="json").status_code == 200
    refused = client.patch(f"{path}/licensing", {"allowedLicenseSlugs": ["personal", "retired"]}, format="json")
    assert pointers(refused) == [("#/allowedLicenseSlugs/1", "unknown_license")]


def test_listing_of_a_retired_category_is_changed_otherwise_by_api_and_studio(client: APIClient, listing: Listing) -> None:
    CategoryFactory(slug="motion", name="Motion")
    listing.category.is_active = False
    listing.category.save()
    path = f"{ASSETS}/{listing.id}"
    assert client.patch(path, PATCH | {"basePrice": 5}, format="json").status_code == 200
    form = details_form(listing=listing)
    sent = {name: form[name].value() for name in ("title", "short_description", "ai_training", "ai_origin")}
    assert details_form(sent | {"category": "fonts", "slug": "aurora"}, listing=listing).errors == {}
    assert client.patch(path, PATCH | {"categorySlug": "motion"}, format="json").status_code == 200
    assert pointers(client.patch(path, PATCH, format="json")) == [("#/categorySlug", "unknown_category")]


@pytest.mark.slow
def test_new_listing_was_last_changed_when_it_was_made_and_not_before(client: APIClient, vendor: VendorProfile) -> None:
    made = client.post(ASSETS, CREATE, format="json").json()
    read = client.get(f"{ASSETS}/{made['id']}").json()
    assert read["updatedAt"] == read["createdAt"]
    client.patch(f"{ASSETS}/{made['id']}/regional-prices", {"priceInr": 5}, format="json")
    assert client.get(f"{ASSETS}/{made['id']}").json()["createdAt"] == read["createdAt"]
    listing = Listing.objects.get(pk=made["id"])
    assert listing.updated_at > listing.created_at


def test_list_contains_the_vendors_own_listings_newest_first(client: APIClient, vendor: VendorProfile) -> None:
    ListingFactory(store=make_vendor().store)
    own = [ListingFactory(store=vendor.store) for _ in range(3)]
    Listing.objects.filter(pk=own[0].pk).update(status="Rejected")
    first = client.get(ASSETS, {"limit": 2}).json()
    second = client.get(ASSETS, {"limit": 2, "page": 2}).json()
    assert set(first) == {"total", "page", "items"}
    assert (first["total"], first["page"], second["page"]) == (3, 1, 2)
    assert [item["id"] for item in first["items"] + second["items"]] == [str(listing.id) for listing in reversed(own)]
    rejected = client.get(ASSETS, {"status": "Rejected"}).json()
    assert (rejected["total"], rejected["items"][0]["id"]) == (1, str(own[0].id))
    assert client.get(ASSETS, {"page": 9}).json()["items"] == []


def test_list_of_many_listings_takes_as_many_queries_as_of_one(
    client: APIClient, vendor: VendorProfile, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        ListingFactory(store=vendor.store)
    client.get(ASSETS)
    # Token, profile, count, page.
    with django_assert_max_num_queries(4):
        assert len(client.get(ASSETS).json()["items"]) == 3
