"""Conditional changes: every change of a listing can require the version that was read."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing, Preview
from catalog.services.transitions import lock_listing
from tests.files.makers import form as sent
from tests.files.makers import picture, sound, zipped
from tests.studio.cases import published, ready, submitted

from .cases import ASSETS, PATCH

pytestmark = pytest.mark.django_db

Call = Callable[[APIClient, str, dict[str, str]], Any]


def sending(method: str, path: str = "", body: dict[str, Any] | None = None) -> Call:
    return lambda client, address, headers: getattr(client, method)(f"{address}{path}", body or {}, format="json", headers=headers)


def uploading(path: str, content: Callable[[], bytes]) -> Call:
    return lambda client, address, headers: client.post(f"{address}{path}", sent(content(), "file"), format="multipart", headers=headers)


def on_preview(method: str, body: dict[str, Any]) -> Call:
    return lambda client, address, headers: getattr(client, method)(
        f"{address}/previews/{Preview.objects.get().pk}", body, format="json", headers=headers
    )


CHANGES: dict[str, tuple[Callable[[Listing], object], Call]] = {
    "details": (ready, sending("patch", "", PATCH)),
    "prices": (ready, sending("patch", "/regional-prices", {"priceInr": 5})),
    "licensing": (ready, sending("patch", "/licensing", {"readme": "new"})),
    "delete": (ready, sending("delete")),
    "file": (ready, uploading("/file", lambda: zipped({"a.txt": b"a"}))),
    "discard": (ready, sending("delete", "/file")),
    "picture": (ready, uploading("/gallery-image?slot=1", lambda: picture(size=(600, 400)))),
    "sound": (ready, uploading("/audio-preview", lambda: sound("MP3"))),
    "describe": (ready, on_preview("patch", {"altText": "A wall"})),
    "remove": (ready, on_preview("delete", {})),
    "manifest": (ready, sending("post", "/manifest/generate")),
    "submit": (ready, sending("post", "/submit")),
    "withdraw": (submitted, sending("post", "/withdraw")),
    "unpublish": (published, sending("post", "/unpublish")),
}


def address(listing: Listing) -> str:
    return f"{ASSETS}/{listing.pk}"


def etag(client: APIClient, listing: Listing) -> str:
    return str(client.get(address(listing))["ETag"])


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_change_with_an_outdated_if_match_is_refused(name: str, client: APIClient, listing: Listing) -> None:
    prepare, call = CHANGES[name]
    prepare(listing)
    stale = etag(client, listing)
    Listing.objects.get(pk=listing.pk).save()
    before = Listing.objects.values().get(pk=listing.pk)
    answer = call(client, address(listing), {"If-Match": stale})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert Listing.objects.values().get(pk=listing.pk) == before
    assert call(client, address(listing), {"If-Match": etag(client, listing)}).status_code == 200


@pytest.mark.parametrize(
    ("form", "status"),
    [("{0}", 200), ("W/{0}", 200), ('"other", {0}', 200), ("*", 200), ("", 412), ("x", 412), ('"other"', 412), ('W/"other"', 412)],
)
def test_if_match_accepts_every_form_of_the_current_etag_and_no_other(form: str, status: int, client: APIClient, listing: Listing) -> None:
    answer = sending("patch", "/licensing", {"readme": "new"})(client, address(listing), {"If-Match": form.format(etag(client, listing))})
    assert answer.status_code == status


def test_each_change_returns_the_new_etag(client: APIClient, listing: Listing) -> None:
    first = etag(client, listing)
    second = sending("patch", "", PATCH)(client, address(listing), {"If-Match": first})["ETag"]
    third = sending("patch", "/licensing", {"readme": "new"})(client, address(listing), {"If-Match": second})["ETag"]
    assert len({first, second, third}) == 3
    assert third == etag(client, listing)


def test_if_match_is_compared_after_the_row_is_locked(client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = etag(client, listing)

    def change_before_the_lock(pk: Any) -> Listing:
        Listing.objects.get(pk=pk).save()
        return lock_listing(pk)

    monkeypatch.setattr("vendors.services.listings.lock_listing", change_before_the_lock)
    answer = sending("patch", "", PATCH)(client, address(listing), {"If-Match": seen})
    assert answer.status_code == 412
    assert Listing.objects.get(pk=listing.pk).title == listing.title
