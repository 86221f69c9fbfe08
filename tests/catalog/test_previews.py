"""GET /api/v1/previews/{id}."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from rest_framework.test import APIClient

from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.storage import default_storage
from tests.factories import ListingFactory, PreviewFactory, PublishedListingFactory, UserFactory

pytestmark = pytest.mark.django_db

BYTES = bytes(range(256)) * 4
CARD = b"a smaller copy"
ORIGIN = {"origin": "https://type-tester.example"}


@pytest.fixture
def stored() -> Any:
    """Make a preview with its bytes in the store, and a smaller copy."""

    def make(listing: Any, content_type: str = "image/png") -> Any:
        preview = PreviewFactory(listing=listing, content_type=content_type, size=len(BYTES))
        card = {"key": f"{preview.object_key}-card", "size": len(CARD), "sha256": "c" * 64, "contentType": "image/webp"}
        preview.renditions = {"card": card | {"width": 1, "height": 1}}
        preview.save()
        for key, content in ((preview.object_key, BYTES), (card["key"], CARD)):
            default_storage.save_bytes(str(key), content)
        return preview

    return make


def body_of(response: Any) -> Any:
    return b"".join(response.streaming_content)


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


def test_missing_object_of_a_preview_is_a_503(anonymous: APIClient) -> None:
    preview = PreviewFactory(listing=PublishedListingFactory())
    response = anonymous.get(preview.url)
    assert (response.status_code, response.json()["code"]) == (503, "dependency_unavailable")


@pytest.mark.slow
def test_smaller_copy_is_served_where_there_is_one(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    card = anonymous.get(preview.url, {"size": "card"})
    assert card["Content-Type"] == "image/webp"
    assert (body_of(card), card["ETag"]) == (CARD, f'"{"c" * 64}"')
    preview.renditions = {}
    preview.save()
    assert body_of(anonymous.get(preview.url, {"size": "card"})) == BYTES


def assert_protected(response: Any) -> None:
    """Assert that whoever shows the bytes of a vendor is safe from them, and that any site may show them."""
    expected = {
        "ETag": f'"{"a" * 64}"',
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


@pytest.mark.slow
def test_published_is_served_with_every_protection_by_one_query(anonymous: APIClient, stored: Any, django_assert_num_queries: Any) -> None:
    preview, page = stored(PublishedListingFactory()), stored(PublishedListingFactory(), content_type="text/html")
    with django_assert_num_queries(1):
        response = anonymous.get(preview.url, headers=ORIGIN)
        assert body_of(response) == BYTES
    assert_protected(response)
    assert (response["Content-Type"], response["Content-Length"]) == ("image/png", str(len(BYTES)))
    assert response["Content-Disposition"] == f'inline; filename="gallery-{preview.id}.png"'
    assert not response.cookies
    # What is none of the types of previews is no page of ours.
    response = anonymous.get(page.url)
    assert (response["Content-Type"], response["Content-Disposition"][-5:]) == ("application/octet-stream", '.bin"')
    body_of(response)


# What a range is answered with is tried in `tests/files/test_serving.py`.
def test_every_other_response_of_a_preview_has_the_security_headers(anonymous: APIClient, stored: Any) -> None:
    preview = stored(PublishedListingFactory())
    for headers, status, content in (
        ({"range": "bytes=10-19"}, 206, BYTES[10:20]),
        ({"range": "bytes=5-5", "if-range": '"older"'}, 200, BYTES),
        ({"if-none-match": f'"{"a" * 64}"'}, 304, b""),
    ):
        response: Any = anonymous.get(preview.url, headers=headers | ORIGIN)
        assert (response.status_code, response.getvalue()) == (status, content), headers
        assert_protected(response)
    head = anonymous.head(preview.url, headers=ORIGIN)
    assert (head.status_code, head["Content-Length"], head.content) == (200, str(len(BYTES)), b"")
    assert_protected(head)
    beyond = anonymous.get(preview.url, HTTP_RANGE="bytes=99999-")
    assert (beyond.status_code, beyond.json()["code"]) == (416, "range_not_satisfiable")
