"""Who hears of what: public events are everyone's, the others only those of their people."""

import re
from typing import Any

import pytest

from catalog.services.review import reject_listing, takedown_listing
from catalog.services.submission import unpublish_listing
from developers.api.webhooks import DATA
from developers.event_types import PING, SUFFICIENT_SCOPES, EventType
from developers.models import App, WebhookEvent
from developers.services.consents import withdraw_consent
from developers.services.scopes import ScopeDecision, decide_scopes, narrow_scopes, request_scopes
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import Scope
from tests import ROOT
from tests.catalog.cases import open_review, published, submitted
from tests.eager import drain
from tests.factories import AppFactory, UserFactory, connect_app
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from vendors.services.listings import update_listing
from vendors.services.profiles import reinstate_vendor, suspend_vendor, update_store
from wallet.models import Order
from wallet.services.refunds import refund_order

from .conftest import Listen
from .receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def test_every_event_type_has_scopes_fields_and_a_row_in_the_documentation() -> None:
    rows = re.findall(r"^\| `(\w+\.\w+|ping)` \|", (ROOT / "marketplace/web/docs/webhooks.md").read_text("utf-8"), re.MULTILINE)
    assert {*EventType, PING} == set(SUFFICIENT_SCOPES) == set(DATA) == set(rows)


def told(receiver: Receiver) -> list[tuple[str, Any]]:
    """Do everything, settling events too, and return what arrived."""
    drain()
    return [(body["type"], body["data"]) for body in receiver.bodies]


def ordered_through(app: App | None, kind: CredentialKind) -> Order:
    """Return an order, as if it had been made through an app."""
    order = bought(on_sale())
    order.app, order.credential_kind = app, kind
    order.save()
    return order


def test_publishing_and_unpublishing_send_events_to_every_app(listen: Listen, receiver: Receiver) -> None:
    listen(EventType.ASSET_PUBLISHED, EventType.ASSET_REMOVED)
    listing = published()
    unpublish_listing(listing=listing, actor=listing.store.owner)
    data = {"assetId": str(listing.pk), "slug": listing.slug, "url": f"http://testserver/api/v1/assets/{listing.pk}"}
    assert told(receiver) == [("asset.published", data), ("asset.removed", data)]


def test_takedown_sends_the_event_asset_removed_and_to_apps_of_the_vendor_listing_reviewed(listen: Listen, receiver: Receiver) -> None:
    listing = published()
    listen(EventType.ASSET_REMOVED, EventType.LISTING_REVIEWED, app=AppFactory(user=listing.store.owner))
    takedown_listing(listing=listing, reason="It was copied.", actor=UserFactory())
    assert sorted(event for event, _ in told(receiver)) == ["asset.removed", "listing.reviewed"]


def test_edit_of_a_published_listing_sends_asset_updated_and_of_a_draft_nothing(listen: Listen) -> None:
    listing = published()
    listen(EventType.ASSET_UPDATED)
    for title in ("New name", "Newer name"):
        update_listing(listing=listing, title=title, actor=listing.store.owner)
    updates = WebhookEvent.objects.filter(type=EventType.ASSET_UPDATED)
    assert updates.get().data["assetId"] == str(listing.pk)
    unpublish_listing(listing=listing, actor=listing.store.owner)
    updates.delete()
    update_listing(listing=listing, title="Newest name", actor=listing.store.owner)
    assert not updates.exists()


@pytest.mark.parametrize("told_of_closing", [True, False])
def test_takedown_in_a_closed_store_sends_asset_removed_no_second_time(listen: Listen, *, told_of_closing: bool) -> None:
    profile = make_vendor()
    listing = published(store=profile.store)
    listen(EventType.ASSET_REMOVED)
    suspend_vendor(profile=profile, reason="For a good reason.", actor=UserFactory())
    if told_of_closing:
        drain()
    takedown_listing(listing=listing, reason="It was copied.", actor=UserFactory())
    drain()
    assert WebhookEvent.objects.filter(type=EventType.ASSET_REMOVED, subject=str(listing.pk)).count() == 1


def test_renamed_store_publishes_nothing_again(listen: Listen) -> None:
    profile = make_vendor()
    published(store=profile.store)
    listen(EventType.ASSET_PUBLISHED)
    before = WebhookEvent.objects.count()
    update_store(profile=profile, store_name="Another name", bio=profile.bio, actor=profile.user)
    drain()
    assert WebhookEvent.objects.count() == before


def test_events_of_a_store_closed_and_opened_within_moments_are_sent_in_their_order(listen: Listen, receiver: Receiver) -> None:
    profile = make_vendor()
    listing = published(store=profile.store)
    listen(EventType.ASSET_PUBLISHED, EventType.ASSET_REMOVED)
    for change in (suspend_vendor, reinstate_vendor, suspend_vendor):
        change(profile=profile, reason="For a good reason.", actor=UserFactory())
        drain()
    events = ("asset.removed", "asset.published", "asset.removed")
    assert [(event, data["assetId"]) for event, data in told(receiver)] == [(event, str(listing.pk)) for event in events]


def test_review_events_are_sent_only_to_apps_of_the_vendor(listen: Listen, receiver: Receiver) -> None:
    review = open_review(submitted())
    owner = review.listing.store.owner
    own, other = listen(EventType.LISTING_REVIEWED, app=AppFactory(user=owner)), listen(EventType.LISTING_REVIEWED)
    findings = [{"code": "other", "field": "title", "message": "It says nothing.", "hint": ""}]
    reject_listing(review=review, findings=findings, actor=UserFactory())
    [(event, data)] = told(receiver)
    assert (event, data["decision"], data["reviewId"]) == ("listing.reviewed", "Rejected", str(review.pk))
    assert "It says nothing" not in str(data)
    receiver.calls[0].opened_with(own.secret)
    assert not other.endpoint.deliveries.exists()


def test_order_events_are_sent_only_to_the_app_that_bought(listen: Listen, receiver: Receiver) -> None:
    own, other = listen(EventType.ORDER_REFUNDED), listen(EventType.ORDER_REFUNDED)
    order = ordered_through(App.objects.get(pk=own.app.pk), CredentialKind.API_KEY)
    refund_order(order=order, reason="Broken.", actor=UserFactory())
    [(event, data)] = told(receiver)
    expected = {"orderId": str(order.pk), "assetId": str(order.listing_id), "status": "Refunded"}
    assert (event, data) == ("order.refunded", expected | {"url": f"http://testserver/api/v1/orders/{order.pk}"})
    receiver.calls[0].opened_with(own.secret)
    assert not other.endpoint.deliveries.exists()


def test_purchase_by_a_key_sends_an_event_to_its_app(listen: Listen, receiver: Receiver, key_client: Any) -> None:
    user = funded(inr=1_000_000)
    client = key_client(user)
    to = listen(EventType.ORDER_COMPLETED, app=App.objects.get(user=user))
    listing = on_sale()
    answer = client.post("/api/v1/wallet/spend", {"assetId": str(listing.pk)}, format="json").json()
    assert client.post("/api/v1/wallet/spend", {"assetId": str(listing.pk)}, format="json").json()["code"] == "already_owned"
    [(event, data)] = told(receiver)
    assert (event, data["orderId"], data["assetId"], data["status"]) == ("order.completed", answer["orderId"], str(listing.pk), "Completed")
    assert client.get(data["url"]).json()["id"] == answer["orderId"]
    assert to.fresh.status == "Active"


def test_purchase_of_a_user_without_an_app_sends_no_event(listen: Listen, receiver: Receiver) -> None:
    to = listen()
    order = ordered_through(None, CredentialKind.PERSONAL)
    refund_order(order=order, reason="Broken.", actor=UserFactory())
    assert [event for event, _ in told(receiver) if event.startswith("order")] == []
    assert to.fresh.failures == 0


def test_app_gets_no_events_about_a_buyer_who_withdrew_the_consent(listen: Listen, receiver: Receiver) -> None:
    to = listen(EventType.ORDER_REFUNDED)
    app = App.objects.get(pk=to.app.pk)
    orders = [ordered_through(app, CredentialKind.OAUTH) for _ in range(2)]
    for order in orders:
        connect_app(order.buyer, app, frozenset({Scope.ACCOUNT_READ}))
    withdraw_consent(user=orders[0].buyer, app=app, actor=orders[0].buyer)
    for order in orders:
        refund_order(order=order, reason="Broken.", actor=UserFactory())
    assert [data["orderId"] for _, data in told(receiver)] == [str(orders[1].pk)]


def test_app_whose_scopes_changed_gets_that_event_and_without_them_no_more_order_events(listen: Listen, receiver: Receiver) -> None:
    to = listen(EventType.SCOPES_CHANGED, EventType.ORDER_REFUNDED)
    app, again = App.objects.get(pk=to.app.pk), Scope.LIBRARY_DOWNLOAD
    lost = {Scope.ACCOUNT_READ, Scope.WALLET_SPEND, again}
    narrowed = narrow_scopes(app=app, scopes=lost, reason="Not needed.", actor=UserFactory())
    review = request_scopes(app=app, scopes={again: "To deliver."}, actor=app.developer)
    widened = decide_scopes(review=review, decisions={again: ScopeDecision(granted=True)}, note="", actor=UserFactory())
    refund_order(order=ordered_through(widened, CredentialKind.API_KEY), reason="Broken.", actor=UserFactory())
    assert told(receiver) == [
        ("app.scopes_changed", {"appId": str(app.pk), "grantedScopes": each.granted_scopes.split()}) for each in (narrowed, widened)
    ]
