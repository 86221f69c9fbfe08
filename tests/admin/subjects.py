"""Every decision of the admin, with something to decide on."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import Group
from django.db.models import Model
from django.utils import timezone

from catalog.models import Deliverable, Discount, Listing, ListingReview
from catalog.services.review import block_deliverable
from developers.event_types import EventType
from developers.models import AccessToken, ApiKey, App, Consent, DeveloperApplication, MetadataReview, ScopeReview, WebhookEndpoint
from developers.services import applications, apps
from developers.services.clients import submit_document
from developers.services.credentials import issue_api_key, issue_token_without_app
from developers.services.scopes import reject_app
from developers.services.spending import LimitValues, set_app_spending_limit
from developers.services.webhooks import create_endpoint
from marketplace.accounts.models import User
from marketplace.core.money import Currency
from marketplace.core.scopes import Scope
from marketplace.jobs.mailing import send_mail
from marketplace.jobs.models import Job
from marketplace.review.models import Appeal, Claimable
from marketplace.review.search import SearchQuery
from tests.catalog.cases import claim_review, draft, make_deliverable, open_review, published, submitted
from tests.developers.oauth.documents import app_of_document
from tests.factories import AppFactory, StorePictureFactory, UserFactory, connect_app
from tests.review.cases import appealed
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.approval_cases import bounded
from tests.wallet.approval_cases import requested_approval as asked_to_approve
from tests.wallet.payees import earning, prepared_payout
from tests.wallet.refund_request_cases import overdue_request
from tests.wallet.refund_request_cases import requested_refund as asked_to_refund
from tests.wallet.top_up_cases import deliver_event, paid_top_up
from tests.wallet.wallet_payout_cases import requested_payout
from vendors.models import VendorProfile, VendorStatus
from vendors.services import payout_details
from wallet.models import CardReversal, PayoutBatch, ProviderEvent, RefundRequest, TopUp, VendorPayout, WalletPayout
from wallet.models.top_ups import EventKind
from wallet.services.refund_requests import escalate_overdue_requests
from wallet.services.vendor_payouts import bounce_payout, export_batch

REASON = {"reason": "For a good reason."}
NEW_FACTS: dict[str, Any] = {"name": "Assistant", "redirect_uris": ["https://client.example/callback", "http://localhost/callback"]}
CHANGED = REASON | {"shown": json.dumps(NEW_FACTS)}


@dataclass(frozen=True)
class Case:
    """One decision: a method of the admin, a row for it, and the audit action that follows; `again` if a second decision is possible by its nature."""

    name: str
    make: Callable[[], Model]
    permission: str
    audit: str
    answers: dict[str, Any] = field(default_factory=lambda: dict(REASON))
    again: bool = False
    superuser: bool = False

    def __str__(self) -> str:
        return f"{self.audit} by {self.name}"


def application() -> DeveloperApplication:
    user = UserFactory()
    return applications.submit_application(user=user, what="A font browser", why="To read manifests", actor=user)


def developer() -> DeveloperApplication:
    return applications.approve_application(application=application(), reason="Fine.", actor=UserFactory())


def pending_app() -> App:
    user = developer().user
    scopes = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy fonts"}
    return apps.create_app(user=user, name="Fontster", purpose="Browses fonts", scopes=scopes, actor=user)


def scope_review() -> ScopeReview:
    return ScopeReview.objects.get(app=pending_app())


def approved_app() -> App:
    return AppFactory(user=developer().user)


def suspended_app() -> App:
    return apps.suspend_app(app=approved_app(), reason="Too many calls.", actor=UserFactory())


def capped_app() -> App:
    app = approved_app()
    set_app_spending_limit(app=app, limit_values=LimitValues(Currency.USD, total_minor=100_00), reason="New.", actor=UserFactory())
    return app


def changed_client() -> MetadataReview:
    """Return the document of a client that says something new."""
    app = submit_document(client=app_of_document(), actor=UserFactory())
    submit_document(client=app_of_document(**NEW_FACTS), actor=UserFactory())
    return MetadataReview.objects.get(app=app)


def rejected_client() -> App:
    return reject_app(app=changed_client().app, reason="Unknown.", actor=UserFactory())


def api_key() -> ApiKey:
    app = AppFactory()
    return issue_api_key(app=app, name="production", actor=app.user)[0]


def token() -> AccessToken:
    user = UserFactory()
    expires = timezone.now() + timedelta(days=1)
    return issue_token_without_app(user=user, name="laptop", scopes=frozenset({Scope.LIBRARY_READ}), expires_at=expires, actor=user)[0]


def consent() -> Consent:
    return connect_app(UserFactory(), AppFactory(), frozenset({Scope.LIBRARY_READ}))


def dead_job() -> Job:
    """Return a job that was tried as often as it may be."""
    job = Job.objects.get(pk=uuid.UUID(send_mail.enqueue("nothing that opens").id))
    job.claim("worker")
    job.set_failed(ValueError())
    return job


def webhook_endpoint() -> WebhookEndpoint:
    app = AppFactory()
    url, events = "https://app.example/hook", [EventType.ASSET_PUBLISHED]
    return create_endpoint(app=app, url=url, events=events, actor=app.developer)[0]


def vendor() -> VendorProfile:
    return make_vendor(VendorStatus.PENDING)


def decorated_vendor() -> VendorProfile:
    """Return a vendor whose store has a logo."""
    profile = make_vendor()
    StorePictureFactory(store=profile.store)
    return profile


def suspended_vendor() -> VendorProfile:
    return make_vendor(VendorStatus.SUSPENDED)


def held_vendor() -> VendorProfile:
    return payout_details.hold_payouts(profile=make_vendor(), reason="Somebody else asked.", actor=UserFactory())


def vendor_payout() -> VendorPayout:
    # One batch at a time is prepared.
    waiting = PayoutBatch.objects.filter(currency="INR", status="Prepared").first()
    payout = prepared_payout(earning(), uuid.uuid4().hex if waiting is None else waiting.run)
    assert isinstance(payout, VendorPayout)
    return payout


def exported_payout() -> VendorPayout:
    payout = vendor_payout()
    export_batch(batch=payout.batch, actor=None)
    return payout


def former_vendor_payout() -> VendorPayout:
    """Return a payout that bounced after its vendor was suspended."""
    payout = bounce_payout(payout=exported_payout(), reason="test", actor=None)
    VendorProfile.objects.filter(user=payout.account.owner).update(status=VendorStatus.SUSPENDED)
    return payout


def payout_batch() -> PayoutBatch:
    return vendor_payout().batch


def exported_batch() -> PayoutBatch:
    return exported_payout().batch


def wallet_payout() -> WalletPayout:
    return requested_payout(funded(inr=50_000), 20_000)


def refund_request() -> RefundRequest:
    made = overdue_request(asked_to_refund())
    escalate_overdue_requests()
    made.refresh_from_db()
    return made


def appeal() -> Appeal:
    return appealed()


def top_up() -> TopUp:
    return paid_top_up()


def disputed() -> CardReversal:
    top_up = deliver_event(paid_top_up(amount_minor=49_900), EventKind.SUCCEEDED)
    bought(on_sale(), top_up.user)
    return CardReversal.objects.get(top_up=deliver_event(top_up, EventKind.DISPUTED))


def provider_event() -> ProviderEvent:
    return ProviderEvent.objects.get(top_up=top_up())


def review() -> ListingReview:
    return open_review(submitted())


def claimed_review() -> ListingReview:
    return claim_review(review(), UserFactory())


def published_review() -> ListingReview:
    return published().reviews.get()


def listing_on_sale() -> Listing:
    return published()


def discount() -> Discount:
    listing: Listing = on_sale()
    return Discount.objects.create(listing=listing, percent=30, ends_at=timezone.now() + timedelta(days=1))


def deliverable() -> Deliverable:
    return make_deliverable(draft())


def blocked_deliverable() -> Deliverable:
    return block_deliverable(deliverable=deliverable(), reason="It steals passwords.", actor=UserFactory())


def held(make: Callable[[], Claimable]) -> Claimable:
    """Return a row that someone else is at."""
    row = make()
    type(row)._default_manager.filter(pk=row.pk).update(claimed_by=UserFactory(), claimed_at=timezone.now())
    return row


def staff_member() -> User:
    return UserFactory(is_staff=True)


def protected_account() -> User:
    user: User = UserFactory()
    TOTP.activate(user, generate_totp_secret())
    return user


def shut_account() -> User:
    return UserFactory(is_active=False)


SCOPES = {
    "decision:catalog:read": "grant",
    "decision:wallet:spend": "refuse",
    "note:wallet:spend": "Not needed to browse.",
    "note": "Read only, for now.",
}
APPROVAL = {"tier_requirement": "go", "note": "Well made."}
FINDINGS = {
    "reason_preview_poor": "on",
    "details_preview_poor": "Picture 2 is blurred.",
    "other_field_0": "title",
    "other_message_0": "There is a typo.",
    "other_hint_0": "Correct it.",
}
DECIDE_APPLICATION = "developers.decide_developerapplication"
DECIDE_VENDOR = "vendors.decide_vendorprofile"
PAY = "wallet.decide_walletpayout"
SETTLE, FORMER = "wallet.settle_vendorpayout", "wallet.settle_former_vendor"
DECIDE_APPEAL = "review.decide_appeal"
DECIDE_REFUND = "wallet.decide_refundrequest"

CLAIMABLE: tuple[tuple[str, Callable[[], Claimable], str], ...] = (
    ("application", application, DECIDE_APPLICATION),
    ("scope_review", scope_review, "developers.decide_app"),
    ("metadata_review", changed_client, "developers.decide_app"),
    ("vendor", vendor, DECIDE_VENDOR),
    ("wallet_payout", wallet_payout, PAY),
    ("refund_request", refund_request, DECIDE_REFUND),
    ("appeal", appeal, DECIDE_APPEAL),
)

CASES = (
    Case("approve", application, DECIDE_APPLICATION, "application.approve"),
    Case("reject", application, DECIDE_APPLICATION, "application.reject"),
    Case("ask", application, DECIDE_APPLICATION, "application.ask"),
    Case("withdraw", developer, DECIDE_APPLICATION, "application.withdraw"),
    Case("decide_scopes", scope_review, "developers.decide_app", "scope_review.decide", SCOPES),
    Case("grant_all", scope_review, "developers.decide_app", "scope_review.decide", {}),
    Case("narrow", approved_app, "developers.decide_app", "app.narrow_scopes", REASON | {"scopes": ["wallet:spend"]}),
    Case("suspend", approved_app, "developers.suspend_app", "app.suspend"),
    Case("reinstate", suspended_app, "developers.suspend_app", "app.reinstate"),
    Case("reject", pending_app, "developers.decide_app", "app.reject"),
    Case("reopen", rejected_client, "developers.decide_app", "app.reopen"),
    Case(
        "set_limit",
        approved_app,
        "developers.set_limit_app",
        "app_spending_limit.set",
        REASON | {"currency": "USD", "per_day": "99.50"},
        again=True,
    ),
    Case("remove_limit", capped_app, "developers.set_limit_app", "app_spending_limit.remove", REASON | {"currency": "USD"}),
    Case("accept", changed_client, "developers.decide_app", "metadata_review.accept", CHANGED),
    Case("refuse", changed_client, "developers.decide_app", "metadata_review.refuse", CHANGED),
    Case("revoke", api_key, "developers.revoke_apikey", "apikey.revoke"),
    Case("limit", api_key, "developers.limit_apikey", "apikey.limit", REASON | {"rate_limit": "120"}, again=True),
    Case("revoke", consent, "developers.revoke_consent", "consent.withdraw"),
    Case("revoke", token, "developers.revoke_accesstoken", "token.revoke"),
    Case("approve", vendor, DECIDE_VENDOR, "vendor.approve"),
    Case("reject", vendor, DECIDE_VENDOR, "vendor.reject"),
    Case("take_pictures_down", decorated_vendor, DECIDE_VENDOR, "vendor.take_pictures_down"),
    Case("suspend", make_vendor, DECIDE_VENDOR, "vendor.suspend"),
    Case("reinstate", suspended_vendor, DECIDE_VENDOR, "vendor.reinstate"),
    Case(
        "commission_rate", vendor, "vendors.set_commission_vendorprofile", "vendor.set_commission", REASON | {"percent": "12.5"}, again=True
    ),
    Case("hold_payouts", make_vendor, "vendors.hold_payouts_vendorprofile", "vendor.hold_payouts"),
    Case("release_payouts", held_vendor, "vendors.hold_payouts_vendorprofile", "vendor.release_payouts"),
    Case("export", payout_batch, "wallet.export_payoutbatch", "payout_batch.export", {}),
    Case("cancel", payout_batch, SETTLE, "payout_batch.cancel"),
    Case("pay", exported_batch, SETTLE, "payout.pay", {}),
    Case("cancel", vendor_payout, SETTLE, "payout.cancel"),
    Case("pay", exported_payout, SETTLE, "payout.pay", {}),
    Case("bounce", exported_payout, SETTLE, "payout.bounce"),
    Case("pay_former_vendor", former_vendor_payout, FORMER, "former_vendor.pay", REASON | {"reference": "UTR 7781"}),
    Case("keep_earnings", former_vendor_payout, FORMER, "former_vendor.keep"),
    Case("pay", wallet_payout, PAY, "wallet_payout.pay", {"reference": "UTR 7781"}),
    Case("refuse", wallet_payout, PAY, "wallet_payout.refuse"),
    Case("refund", top_up, "wallet.refund_topup", "top_up.refund"),
    Case("overturn", appeal, DECIDE_APPEAL, "appeal.accept"),
    Case("uphold", appeal, DECIDE_APPEAL, "appeal.dismiss"),
    Case("grant", refund_request, DECIDE_REFUND, "order.refund"),
    Case("refuse", refund_request, DECIDE_REFUND, "refund_request.refuse"),
    Case("approve", review, "catalog.review_listing", "listing.approve", APPROVAL),
    Case("reject", review, "catalog.review_listing", "listing.reject", FINDINGS),
    Case("claim", review, "catalog.review_listing", "review.claim", {}, again=True),
    Case("take_over", claimed_review, "catalog.review_listing", "review.take_over", {}, again=True),
    Case("takedown", published_review, "catalog.takedown_listing", "listing.takedown"),
    Case("block", review, "catalog.block_deliverable", "deliverable.block"),
    Case("takedown", listing_on_sale, "catalog.takedown_listing", "listing.takedown"),
    Case("end", discount, "catalog.end_discount", "listing.end_discount"),
    Case("block", deliverable, "catalog.block_deliverable", "deliverable.block"),
    Case("unblock", blocked_deliverable, "catalog.block_deliverable", "deliverable.unblock"),
    Case("set_tier", UserFactory, "accounts.set_tier_user", "user.set_tier", REASON | {"tier": "pro"}),
    Case("deactivate", UserFactory, "accounts.deactivate_user", "user.deactivate"),
    Case("reactivate", shut_account, "accounts.deactivate_user", "user.reactivate"),
    Case("delete_account", UserFactory, "accounts.erase_user", "user.delete"),
    Case("remove_second_factor", protected_account, "accounts.remove_second_factor_user", "user.remove_second_factor"),
    Case("set_staff", UserFactory, "accounts.grant_staff_user", "user.set_staff", again=True, superuser=True),
    Case("disable", webhook_endpoint, "developers.disable_webhookendpoint", "webhook.disable"),
    Case("retry", dead_job, "jobs.retry_job", "job.retry", {}),
    *(
        Case(step, make, permission, f"{noun}.{step}", {}, again=True)
        for noun, make, permission in CLAIMABLE
        for step, make in (("claim", make), ("take_over", partial(held, make)))
    ),
    Case("remove_staff", staff_member, "accounts.grant_staff_user", "user.remove_staff"),
)
# Where a row says whose it is, or whose money or work it is about.
_OWNED_BY = {
    AccessToken: "user",
    ApiKey: "app.user",
    App: "user",
    Appeal: "appellant",
    MetadataReview: "app.user",
    Consent: "user",
    Deliverable: "listing.store.owner",
    DeveloperApplication: "user",
    Discount: "listing.store.owner",
    Listing: "store.owner",
    ListingReview: "listing.store.owner",
    RefundRequest: "order.buyer",
    ScopeReview: "app.user",
    TopUp: "user",
    VendorPayout: "account.owner",
    VendorProfile: "user",
    WalletPayout: "wallet.owner",
    WebhookEndpoint: "app.user",
}


def owner_of(subject: Any) -> User:
    match subject:
        case User():
            return subject
        case PayoutBatch():
            subject = subject.payouts.get()
    owner: User = attrgetter(_OWNED_BY[type(subject)])(subject)
    return owner


# One row of each kind, to look at: rows of groups are Django's.
LOOKED_AT: tuple[Callable[[], Model], ...] = (
    scope_review,
    api_key,
    changed_client,
    token,
    vendor,
    wallet_payout,
    refund_request,
    appeal,
    top_up,
    lambda: asked_to_approve(bounded(funded(inr=10_000_000))),
    disputed,
    discount,
    provider_event,
    exported_payout,
    payout_batch,
    published_review,
    claimed_review,
    lambda: Group.objects.create(name="Editors"),
)

NOBODY = uuid.UUID("0198c0de-0000-7000-8000-000000000000")
query = SearchQuery.of
