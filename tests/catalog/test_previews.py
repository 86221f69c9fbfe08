"""GET /api/v1/previews/{id}."""

import uuid
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from rest_framework.test import APIClient

from catalog.models import Preview
from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.storage import default_storage
from tests.factories import ListingFactory, PublishedListingFactory, UserFactory

pytestmark = pytest.mark.django_db

BYTES = bytes(range(256)) * 4
CARD = b"a smaller copy"


@pytest.fixture
def stored() -> Any:
    """Make a preview with its bytes in the store, and a smaller copy."""

    def make(listing: Any, content_type: str = "image/png") -> Any:
        preview_id = uuid.uuid4()
        renditions = {}
        for key, content in ((f"previews/{preview_id}", BYTES), (f"previews/{preview_id}-card", CARD)):
            default_storage.save_bytes(key, content)
        card = {"key": f"previews/{preview_id}-card", "size": len(CARD), "sha256": "c" * 64, "width": 1, "height": 1}
        renditions["card"] = card | {"contentType": "image/webp"}
        return Preview.objects.create(
            id=preview_id,
            listing=listing,
            kind="Gallery",
            slot=0,
            object_key=f"previews/{preview_id}",
            content_type=content_type,
            size=len(BYTES),
            sha256="b" * 64,
            renditions=renditions,
        )

    return make


def body_of(response: Any) -> Any:
    return b"".join(response.streaming_content)


def test_unknown_preview_is_not_found(anonymous: APIClient) -> None:
    for preview_id in (uuid.uuid4(), "x", "%00", "0"):
        response = anonymous.get(f"/api/v1/previews/{preview_id}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_unpublished_is_not_found_for_everyone_else(anonymous: APIClient, bearer_client: Any, key_client: Any, stored: Any) -> None:
    listing = ListingFactory()
    preview = stored(listing)
    owner = listing.store.owner
    callers = (
        anonymous,
        bearer_client(),
        # A key acts for an app, and no app can be granted a vendor's scope.
        key_client(owner),
        bearer_client(owner, scopes=APP_SCOPES),
    )
    for client in callers:
        response = client.get(preview.url)
        assert (response.status_code, response.json()["code"]) == (404, "not_found")
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.get(preview.url).status_code == 404


def test_unpublished_is_shown_to_owner_and_staff_and_never_cached(bearer_client: Any, stored: Any) -> None:
    listing = ListingFactory()
    preview = stored(listing)
    owner, staff = Client(), Client()
    owner.force_login(listing.store.owner)
    staff.force_login(UserFactory(is_staff=True))
    token = bearer_client(listing.store.owner, scopes={Scope.VENDOR_MANAGE})
    for client in (owner, staff, token):
        response = client.get(preview.url)
        assert (response.status_code, response["Cache-Control"]) == (200, "private, no-store")
        assert body_of(response) == BYTES


def test_unpublished_is_shown_to_staff_with_the_second_factor_that_the_admin_requires(stored: Any, settings: Any) -> None:
    settings.ADMIN_REQUIRES_SECOND_FACTOR = True
    preview, user, client = stored(ListingFactory()), UserFactory(is_staff=True), Client()
    client.force_login(user)
    assert client.get(preview.url).status_code == 404
    Authenticator.objects.create(user=user, type="totp", data={})
    user.refresh_from_db()
    client.force_login(user)
    assert client.get(preview.url).status_code == 200


def test_public_preview_is_private_to_whoever_shows_a_credential(bearer_client: Any, stored: Any) -> None:
    listing = PublishedListingFactory()
    response = bearer_client(listing.store.owner, scopes={Scope.VENDOR_MANAGE}).get(stored(listing).url)
    assert (response.status_code, response["Cache-Control"], "X-Accel-Expires" in response) == (200, "private, no-cache", False)


def test_published_in_a_closed_store_is_not_found(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory(store__is_open=False))
    assert anonymous.get(preview.url).status_code == 404


def test_missing_object_of_a_preview_is_a_503(anonymous: APIClient) -> None:
    preview = Preview.objects.create(
        listing=PublishedListingFactory(), kind="Gallery", object_key="previews/lost", content_type="image/png", size=9, sha256="d" * 64
    )
    response = anonymous.get(preview.url)
    assert (response.status_code, response.json()["code"]) == (503, "dependency_unavailable")


def test_unknown_size_is_invalid(refused: Any, stored: Any) -> None:
    assert refused(f"previews/{stored(PublishedListingFactory()).id}", size="huge") == [("?size", "invalid_choice")]


@pytest.mark.slow
def test_published_is_served_with_every_protection(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    response = anonymous.get(preview.url, HTTP_ORIGIN="https://anywhere.example")
    assert body_of(response) == BYTES
    expected = {
        "Content-Type": "image/png",
        "Content-Length": str(len(BYTES)),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "public, max-age=0, s-maxage=5",
        "ETag": f'"{"b" * 64}"',
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'inline; filename="gallery-{preview.id}.png"',
        "Access-Control-Allow-Origin": "*",
    }
    assert {name: response[name] for name in expected} == expected
    assert not response.cookies


@pytest.mark.slow
def test_preview_with_another_content_type_is_served_as_octet_stream(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory(), content_type="text/html")
    response = anonymous.get(preview.url)
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].endswith('.bin"')
    body_of(response)


@pytest.mark.slow
def test_range_head_and_revalidation(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    part = anonymous.get(preview.url, HTTP_RANGE="bytes=10-19")
    assert (part.status_code, part["Content-Range"], body_of(part)) == (206, f"bytes 10-19/{len(BYTES)}", BYTES[10:20])
    beyond = anonymous.get(preview.url, HTTP_RANGE="bytes=99999-")
    assert (beyond.status_code, beyond.json()["code"]) == (416, "range_not_satisfiable")
    head = anonymous.head(preview.url)
    assert (head.status_code, head["Content-Length"], head.content) == (200, str(len(BYTES)), b"")
    assert anonymous.get(preview.url, HTTP_IF_NONE_MATCH=head["ETag"]).status_code == 304


@pytest.mark.slow
def test_smaller_copy_is_served_where_there_is_one(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    card = anonymous.get(preview.url, {"size": "card"})
    assert card["Content-Type"] == "image/webp"
    assert (body_of(card), card["ETag"]) == (CARD, f'"{"c" * 64}"')
    preview.renditions = {}
    preview.save()
    assert body_of(anonymous.get(preview.url, {"size": "card"})) == BYTES


def test_preview_takes_one_query(anonymous: APIClient, django_assert_num_queries: Any, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    with django_assert_num_queries(1):
        body_of(anonymous.get(preview.url))


@pytest.mark.parametrize(
    ("headers", "status", "start", "end"),
    [
        ({}, 200, 0, len(BYTES)),
        ({"range": "bytes=0-"}, 206, 0, len(BYTES)),
        ({"range": "bytes=-24"}, 206, len(BYTES) - 24, len(BYTES)),
        ({"range": "bytes=5-5", "if-range": f'"{"b" * 64}"'}, 206, 5, 6),
        ({"range": "bytes=5-5", "if-range": '"older"'}, 200, 0, len(BYTES)),
        ({"range": "bytes=0-1,5-6"}, 200, 0, len(BYTES)),
    ],
)
def test_every_response_of_a_preview_has_the_security_headers(
    headers: dict[str, str], status: int, start: int, end: int, anonymous: APIClient, stored: Any
) -> None:
    preview = stored(PublishedListingFactory())
    response = anonymous.get(preview.url, headers=headers | {"origin": "https://type-tester.example"})
    assert (response.status_code, body_of(response)) == (status, BYTES[start:end])
    assert response["Content-Length"] == str(end - start)
    if status == 206:
        assert response["Content-Range"] == f"bytes {start}-{end - 1}/{len(BYTES)}"
    assert_protected(response)


@pytest.mark.slow
@pytest.mark.parametrize(("headers", "status"), [({"if-none-match": f'"{"b" * 64}"'}, 304), ({"if-none-match": "*"}, 304)])
def test_response_without_a_body_has_the_security_headers(headers: dict[str, str], status: int, anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    response = anonymous.get(preview.url, headers=headers | {"origin": "https://type-tester.example"})
    assert (response.status_code, response.content) == (status, b"")
    assert_protected(response)
    head = anonymous.head(preview.url, headers={"origin": "https://type-tester.example"})
    assert (head.status_code, head["Content-Type"], head.content) == (200, "image/png", b"")
    assert_protected(head)


def assert_protected(response: Any) -> None:
    expected = {
        "ETag": f'"{"b" * 64}"',
        "Accept-Ranges": "bytes",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "public, max-age=0, s-maxage=5",
        "Access-Control-Allow-Origin": "*",
    }
    assert {name: response.get(name) for name in expected} == expected
    # A cache may hand the same answer to every origin.
    assert "origin" not in response.get("Vary", "").lower()
    assert "Access-Control-Allow-Credentials" not in response
