"""The data that an operation needs to succeed, built by services and factories."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from inspect import isfunction
from typing import Any

from django.utils import timezone

from catalog.models import Discount, LicenseTier, Listing
from catalog.models.files import StorePictureKind
from catalog.services.submission import submit_listing
from developers.event_types import OWN_STORE_EVENTS, EventType
from developers.models import App, WebhookDelivery, WebhookEvent
from developers.models.webhooks import DeliveryStatus
from developers.services.applications import approve_application, submit_application
from developers.services.webhooks import create_endpoint
from developers.webhooks.publishing import new_event, publish_events
from library.bounds import STATUS_LIST_LENGTH
from library.certificates import certificate_claims, signed_certificate
from library.models import Licence
from library.services.links import issue_link, url_of
from library.services.status_lists import status_list_position
from marketplace.accounts.models import User
from marketplace.storage import default_storage
from tests.catalog.cases import PASSED
from tests.factories import AppFactory, CategoryFactory, ListingFactory, StorePictureFactory, UserFactory
from tests.review import cases
from tests.shop import archive, bought, funded, on_sale, tiers
from tests.vendors.attaching import show, upload
from tests.vendors.cases import make_vendor
from tests.wallet import invoice_cases
from tests.wallet.approval_cases import bounded_key
from tests.wallet.approval_cases import requested_approval as asked_to_approve
from tests.wallet.licensee_cases import CLIENT
from tests.wallet.payees import account_of, paid_payout, payee
from tests.wallet.refund_request_cases import downloaded_order, requested_refund
from tests.wallet.top_up_cases import requested_top_up
from vendors.services.uploads import append_part, begin_upload, new_part_key
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import Order
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import spend


@dataclass
class Scene:
    """A place in which an operation succeeds.

    Args:
        user: Who calls.
        names: What the names in paths stand for.
        body: Values of fields that only the scene knows.
        query: Values of query parameters that only the scene knows.
        shows: What an answer says, where it has the key.
        app: The app that calls, where another one cannot.
    """

    user: User
    names: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    shows: dict[str, Any] = field(default_factory=dict)
    app: App | None = None


DETAILS: dict[str, Any] = {
    "title": "Aurora Sans",
    "slug": "aurora-sans",
    "short_description": "A warm grotesque.",
    "description": "# Aurora",
    "tags": ["sans"],
    "version": "1.0",
    "file_type": "OTF",
    "price_eur_minor": 900,
}


def _shop() -> tuple[Scene, Listing]:
    listing = on_sale(archive(), **DETAILS)
    preview = show(listing)
    Discount.objects.create(listing=listing, percent=10, code="SPRING", ends_at=timezone.now() + timedelta(days=1))
    scene = Scene(
        user=funded(inr=100_000, usd=5_000),
        names={"id": str(listing.id), "preview_id": str(preview.id)},
        body={"assetId": str(listing.id)},
        query={"q": "aurora", "use": "print_run"},
        shows={"id": str(listing.id), "assetId": str(listing.id), "title": "Aurora Sans", "slug": "aurora-sans", "query": "aurora"},
    )
    return scene, listing


def for_sale() -> Scene:
    """One asset for sale, and someone with money."""
    scene, _ = _shop()
    scene.shows |= {"balanceINR": 1_000, "balanceUSD": 50}
    return scene


def quoted() -> Scene:
    """The asset's commercial licence was quoted in USD, for a client."""
    scene = for_sale()
    purchase = PurchaseRequest(scene.names["id"], "USD", "commercial", "SPRING", licensee=CLIENT)
    scene.body["quoteId"] = str(make_quote(buyer=scene.user, purchase=purchase).pk)
    # Of the call with nothing but the asset.
    scene.shows |= {"success": True, "licenseSlug": "personal", "currency": "INR", "debitedINR": 499, "debitedUSD": 0}
    scene.shows |= {"newBalanceINR": 501, "newBalanceUSD": 50}
    return scene


def without_credit() -> Scene:
    """Someone with an empty wallet."""
    return Scene(UserFactory())


def asking_the_owner() -> Scene:
    """The app asked to buy above its limit, and it is about the approval."""
    principal = bounded_key(funded(inr=10_000_000))
    approval = asked_to_approve(principal)
    return Scene(
        principal.user,
        names={"approval_id": str(approval.pk)},
        shows={"approvalId": str(approval.pk), "status": "Waiting"},
        app=principal.app,
    )


def topping_up() -> Scene:
    """Someone asked for credit, and it is about the top-up."""
    user = UserFactory()
    top_up = requested_top_up(user)
    return Scene(user, names={"top_up_id": str(top_up.pk)}, shows={"id": str(top_up.pk), "status": "Pending"})


def owned() -> Scene:
    """The asset is the caller's."""
    scene, listing = _shop()
    bought(listing, scene.user)
    licence = Licence.objects.select_related("listing__store", "tier", "deliverable", "holder").get(holder=scene.user)
    scene.names |= {"certificate_id": str(licence.id), "order_id": str(licence.order_id)}
    scene.body["jws"] = signed_certificate(certificate_claims(licence))["jws"]
    scene.shows |= {"ownedCount": 1, "nextCursor": None}
    return scene


def certified() -> Scene:
    """The asset is the caller's, with a verifiable credential, whose ids are addresses."""
    scene = owned()
    position = status_list_position(licence=Licence.objects.get(holder=scene.user))
    scene.names["list_id"], scene.shows = f"revocation-{position // STATUS_LIST_LENGTH}", {}
    return scene


def billed() -> Scene:
    """The caller has billing details."""
    scene = for_sale()
    invoice_cases.billed(scene.user, invoice_cases.MUMBAI)
    return scene


def invoiced() -> Scene:
    """The asset was bought and refunded, and both were invoiced."""
    invoice_cases.operator()
    scene = owned()
    refund_order(order=Order.objects.get(pk=scene.names["order_id"]), reason="broken", actor=None)
    invoice_cases.issue()
    return scene


def ordered() -> Scene:
    """As owned, and it is about the order."""
    scene = owned()
    scene.shows = {"id": scene.names["order_id"], "assetId": scene.names["id"]}
    return scene


def refundable() -> Scene:
    """The asset was bought and not downloaded."""
    scene = owned()
    scene.shows = {"orderId": scene.names["order_id"], "status": "Refunded"}
    return scene


def refund_asked() -> Scene:
    """The asset was bought for a quoted price, downloaded and asked for."""
    scene, listing = _shop()
    quote = make_quote(buyer=scene.user, purchase=PurchaseRequest(str(listing.pk)))
    receipt, _ = spend(
        buyer=scene.user, purchase=PurchaseRequest(str(listing.pk)), quote_id=str(quote.pk), delivery_consent=IMMEDIATE_DELIVERY
    )
    requested_refund(downloaded_order(Order.objects.get(pk=receipt.order_id)))
    scene.names["order_id"], scene.shows = receipt.order_id, {}
    return scene


def link() -> Scene:
    """The caller has a link to the package."""
    scene = owned()
    address = url_of(issue_link(licence=Licence.objects.get(holder=scene.user)))
    scene.names["token"] = address.rpartition("/")[2]
    return scene


def developer() -> Scene:
    """An approved developer who is no vendor yet."""
    user = UserFactory()
    application = submit_application(user=user, what="A plugin", why="Designers asked for it", actor=user)
    approve_application(application=application, reason="Sound", actor=UserFactory(is_staff=True))
    return Scene(user, shows={"userId": str(user.pk), "status": "Approved", "commissionRate": 0.2})


def _vendor() -> tuple[Scene, Listing]:
    tiers()
    CategoryFactory()
    CategoryFactory(slug="motion", name="Motion")
    CategoryFactory(slug="retired", name="Retired", is_active=False)
    LicenseTier.objects.create(slug="retired", name="Retired", is_active=False)
    profile = make_vendor()
    listing = ListingFactory(store=profile.store, **DETAILS)
    shows = {"vendorId": str(profile.user_id), "userId": str(profile.user_id), "assetId": str(listing.id), "commissionRate": 0.2}
    return Scene(profile.user, names={"id": str(listing.id)}, query={"slot": "0"}, shows=shows), listing


def draft() -> Scene:
    """An approved vendor with a draft."""
    return _vendor()[0]


def ready() -> Scene:
    """The draft passes every check."""
    scene, listing = _vendor()
    upload(listing)
    show(listing)
    scene.shows |= {"id": str(listing.id), "slug": "aurora-sans", "passed": True}
    return scene


def discounted() -> Scene:
    """The draft has a discount with a code, and may get another."""
    scene, listing = _vendor()
    begins = timezone.now().replace(microsecond=0) + timedelta(days=1)
    discount = Discount.objects.create(listing=listing, percent=10, code="EARLY", starts_at=begins, ends_at=begins + timedelta(days=1))
    scene.names["discount_id"] = str(discount.pk)
    scene.body = {"startsAt": _utc(begins + timedelta(days=2)), "endsAt": _utc(begins + timedelta(days=3))}
    return scene


def _utc(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def uploaded() -> Scene:
    """The draft has a file and a picture, and it is about these."""
    scene, listing = _vendor()
    upload(listing)
    scene.names["preview_id"] = str(show(listing).id)
    return scene


def decorated() -> Scene:
    """The vendor's store has a logo and a banner."""
    scene, listing = _vendor()
    for kind in StorePictureKind:
        StorePictureFactory(store=listing.store, kind=kind, details={"width": 64, "height": 64})
    return scene


def sent() -> Scene:
    """All parts of a file for the draft have arrived."""
    scene, listing = _vendor()
    content = archive()
    upload = begin_upload(listing=listing, filename="aurora.zip", size=len(content), actor=scene.user)
    key = new_part_key(upload=upload)
    default_storage.save_bytes(key, content)
    append_part(upload=upload, offset=0, key=key, size=len(content), actor=scene.user)
    scene.names["upload_id"] = str(upload.pk)
    scene.shows |= {"originalFilename": "aurora.zip", "fileSize": len(content), "offset": len(content)}
    return scene


def waiting() -> Scene:
    """The listing waits for review."""
    scene, listing = _vendor()
    upload(listing)
    scene.names["preview_id"] = str(show(listing).id)
    submit_listing(listing=Listing.objects.get(pk=listing.pk), checks=PASSED, actor=scene.user)
    scene.shows |= {"id": str(listing.id), "total": 1, "status": "Draft"}
    return scene


def selling() -> Scene:
    """The vendor's listing is for sale."""
    tiers()
    profile = make_vendor()
    listing = on_sale(store=profile.store, **DETAILS)
    return Scene(profile.user, names={"id": str(listing.id)}, shows={"id": str(listing.id), "status": "Draft"})


def earning() -> Scene:
    """An asset of the vendor's was sold, paid out, and sold again."""
    profile = payee()
    listing = on_sale(store=profile.store, **DETAILS)
    bought(listing)
    paid_payout(account_of(profile))
    bought(listing)
    return Scene(profile.user)


def eventful() -> Scene:
    """Something happened that the app sees."""
    app = AppFactory()
    publish_events(new_event(EventType.SCOPES_CHANGED, subject=app.pk, data={"appId": str(app.pk), "grantedScopes": []}, app_id=app.pk))
    return Scene(app.developer, app=app)


def hooked() -> Scene:
    """The app has a webhook, to which a delivery failed."""
    scene = eventful()
    assert scene.app is not None
    events = set(EventType) - OWN_STORE_EVENTS
    endpoint, _ = create_endpoint(app=scene.app, url="https://hooks.example.com/in", events=events, actor=scene.user)
    failed = {"status": DeliveryStatus.FAILED, "ended_at": timezone.now() - timedelta(hours=1)}
    delivery = WebhookDelivery.objects.create(event=WebhookEvent.objects.get(), endpoint=endpoint, **failed)
    scene.names = {"webhook_id": str(endpoint.pk), "delivery_id": str(delivery.pk)}
    return scene


def taken_down() -> Scene:
    """The vendor's listing was taken down."""
    listing = cases.taken_down()
    return Scene(listing.store.owner, body={"subjectId": str(listing.pk)}, shows={"subjectId": str(listing.pk), "status": "Pending"})


def appealed() -> Scene:
    """The vendor appealed a takedown."""
    appeal = cases.appealed()
    return Scene(appeal.appellant, names={"appeal_id": str(appeal.pk)}, shows={"subjectId": appeal.decision.subject_id})


# By their names, which the table gives.
SCENES: dict[str, Callable[[], Scene]] = {
    name: made for name, made in list(vars().items()) if isfunction(made) and made.__module__ == __name__ and not name.startswith("_")
}
