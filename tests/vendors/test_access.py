"""Who may call the vendor side, and on which listings."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.scopes import Scope
from vendors.models import VendorProfile, VendorStatus

from .cases import ASSETS, ON_ONE_LISTING, OPERATIONS, call, make_vendor, problem

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_anonymous_is_refused(method: str, path: str, listing: Listing, anonymous: APIClient) -> None:
    answer = call(anonymous, method, path)
    assert problem(answer) == (401, "not_authenticated")
    assert "WWW-Authenticate" in answer


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_api_key_is_refused(method: str, path: str, listing: Listing, vendor: VendorProfile, key_client: Callable[..., APIClient]) -> None:
    assert problem(call(key_client(vendor.user), method, path)) == (401, "invalid_credential")


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_token_without_the_scope_is_refused(
    method: str, path: str, listing: Listing, vendor: VendorProfile, bearer_client: Callable[..., APIClient]
) -> None:
    token = bearer_client(vendor.user, scopes=frozenset(Scope) - {Scope.VENDOR_MANAGE})
    assert problem(call(token, method, path)) == (403, "insufficient_scope")


@pytest.mark.parametrize("status", [VendorStatus.PENDING, VendorStatus.SUSPENDED, None])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_vendor_who_is_not_approved_is_refused(
    method: str, path: str, status: VendorStatus | None, bearer_client: Callable[..., APIClient]
) -> None:
    client = bearer_client() if status is None else bearer_client(make_vendor(status).user)
    answer = call(client, method, path)
    assert problem(answer) == (403, "vendor_not_approved")
    assert answer.json()["vendorStatus"] == status


@pytest.mark.parametrize(("method", "path"), ON_ONE_LISTING)
def test_someone_elses_listing_does_not_exist(method: str, path: str, listing: Listing, other_client: APIClient) -> None:
    for asset_id in (listing.slug, str(listing.id)):
        assert problem(call(other_client, method, path.replace("aurora-sans", asset_id))) == (404, "not_found")


@pytest.mark.parametrize("asset_id", ["unknown", "01900000-0000-7000-8000-000000000000", "%00", "A%20B", "x" * 300, "%F0%9F%98%80"])
@pytest.mark.parametrize(("method", "path"), ON_ONE_LISTING)
def test_unknown_listing_is_not_found(method: str, path: str, asset_id: str, client: APIClient) -> None:
    assert problem(call(client, method, path.replace("aurora-sans", asset_id))) == (404, "not_found")


def test_put_is_not_allowed_and_options_names_what_is(client: APIClient, listing: Listing) -> None:
    assert problem(client.put(f"{ASSETS}/{listing.id}")) == (405, "method_not_allowed")
    answer = client.options(f"{ASSETS}/{listing.id}")
    assert answer.status_code == 204
    assert "PUT" not in answer["Allow"]
