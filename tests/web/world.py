"""A shop with content for every page, and the table of all pages: the user who sees each, and its path in that shop."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.core import signing
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from benchmarks.seeding.fill import fill
from catalog.models import Discount, FeaturedListing, Listing, Preview
from catalog.search.rebuild import rebuild
from catalog.services.review import reject_listing
from developers import bounds
from developers.event_types import EventType
from developers.models import App
from developers.secrets import digest_of
from developers.services.applications import approve_application, submit_application
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app
from developers.services.webhooks import create_endpoint, send_test_event
from library.licensees import Licensee
from library.models import Favourite, Licence
from library.services.links import issue_link
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from marketplace.jobs.models import Schedule, Worker
from marketplace.storage import default_storage
from marketplace.web.docs.reference import operations
from tests.admin import subjects
from tests.admin.pages import address
from tests.callers import personal_token
from tests.catalog.cases import rejected
from tests.factories import PLENTY, AppFactory, ListingFactory, PreviewFactory, UserFactory, connect_app
from tests.files.makers import picture
from tests.review.cases import appealed, decision_on
from tests.shop import archive, bought, on_sale
from tests.studio.cases import submitted, with_candidate
from tests.vendors.cases import make_vendor
from tests.wallet import invoice_cases
from tests.wallet.approval_cases import bounded
from tests.wallet.approval_cases import requested_approval as asked_to_approve
from tests.wallet.payees import account_of, paid_payout, payee
from tests.wallet.refund_request_cases import declined_request, downloaded_order
from tests.wallet.refund_request_cases import requested_refund as asked_to_refund
from tests.wallet.top_up_cases import requested_top_up
from tests.wallet.wallet_payout_cases import requested_payout
from wallet.models import ExchangeRate, Order, RefundRequest
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote

CALLBACK = "https://app.example/callback"
CHALLENGE = "c" * 43

# By who looks: nobody in particular, someone new, someone who builds, sells and buys, an admin.
PAGES: dict[str, list[str]] = {
    "visitor": [
        "/",
        "/browse",
        "/browse?q=halden&category=fonts&license=personal",
        "/browse?q=zzqqxx",
        "/browse?category=fonts&tier=pro&sort=price_desc&page=2",
        "/browse?tag=sans&fileType=otf&vendor={store}&platform=figma&minPrice=1&currency=USD",
        "/assets/{asset}",
        "/assets/{asset}/changes",
        "/assets/{asset}/rights?use=print_run&quantity=500",
        "/assets/{asset}/rights?use=war&quantity=0",
        "/licences/personal/1",
        "/assets/{asset}/pictures/1",
        "/stores/{store}",
        "/docs",
        "/docs?q=webhook",
        "/docs/quick-start",
        "/docs/api/{operation}",
        "/api/v1/docs",
        "/problems",
        "/problems/not_found",
        "/terms",
        "/privacy",
        "/refunds",
        "/contact",
        "/certificates/verify",
        "/certificates/verify?id={certificate}",
        "/certificates/verify?id=nothing",
        "/account/login/",
        "/account/signup/",
        "/account/password/reset/",
        "/account/password/reset/done/",
        "/account/password/reset/key/done/",
        "/account/confirm-email/",
        "/account/confirm-email/nothing/",
        "/account/inactive/",
    ],
    "newcomer": [
        "/dashboard",
        "/dashboard/developer",
        "/dashboard/apps",
        "/dashboard/tokens",
        "/dashboard/spending",
        "/dashboard/connections",
        "/dashboard/wallet",
        "/dashboard/appeals",
        "/dashboard/wallet/payouts/new",
        "/dashboard/favourites",
        "/dashboard/library",
        "/dashboard/studio/apply",
        "/account/email/",
        "/account/password/change/",
        "/account/reauthenticate/",
        "/account/logout/",
        "/account/2fa/",
    ],
    "member": [
        "/",
        "/browse",
        "/assets/{asset}",
        "/assets/{owned}",
        "/assets/{asset}/buy/for-someone-else",
        "/dashboard",
        "/dashboard/account",
        "/dashboard/account/billing",
        "/dashboard/account/delete",
        "/dashboard/studio/sales/invoices",
        "/dashboard/wallet",
        "/dashboard/wallet/payouts/new",
        "/dashboard/wallet/payouts/{wallet_payout}",
        "/dashboard/wallet/top-ups/new",
        "/dashboard/wallet/top-ups/{top_up}",
        "/dashboard/approvals",
        "/dashboard/approvals/{approval}",
        "{payment_page}",
        "/dashboard/appeals",
        "/dashboard/appeals/{rejected}",
        "/dashboard/appeals/{appealed}",
        "/dashboard/orders/{order}",
        "/dashboard/orders/{for_other}",
        "/licences/claim/{claim}",
        "/dashboard/orders/{order}/refund",
        "/dashboard/orders/{declined}",
        "/dashboard/orders/{declined}/refund/escalate",
        "/checkout/{quote}",
        "/dashboard/favourites",
        "/dashboard/library",
        "/dashboard/library/{owned}",
        "/dashboard/developer",
        "/dashboard/apps",
        "/dashboard/apps/new",
        "/dashboard/apps/{app}",
        "/dashboard/apps/{app}/usage",
        "/dashboard/apps/{app}/scopes",
        "/dashboard/apps/{app}/redirects",
        "/dashboard/apps/{app}/keys/new",
        "/dashboard/apps/{app}/keys/{key}/revoke",
        "/dashboard/apps/{app}/keys/{key}/rotate",
        "/dashboard/apps/{app}/mcp-tokens/new",
        "/dashboard/apps/{app}/mcp-tokens/{mcp_token}/revoke",
        "/dashboard/apps/{app}/mcp-tokens/{mcp_token}/rotate",
        "/dashboard/apps/{app}/webhooks",
        "/dashboard/apps/{app}/webhooks/new",
        "/dashboard/apps/{app}/webhooks/{endpoint}",
        "/dashboard/apps/{app}/webhooks/{endpoint}/edit",
        "/dashboard/apps/{app}/webhooks/{endpoint}/rotate",
        "/dashboard/apps/{app}/webhooks/{endpoint}/delete",
        "/dashboard/apps/{app}/webhooks/{endpoint}/deliveries/{delivery}",
        "/dashboard/console",
        "/dashboard/console/{operation}",
        "/dashboard/connections",
        "/dashboard/connections/{connected}/withdraw",
        "/dashboard/spending",
        "/dashboard/spending/apps/{connected}",
        "/dashboard/spending/tokens/{token}",
        "/dashboard/tokens",
        "/dashboard/tokens/usage",
        "/dashboard/tokens/new",
        "/dashboard/tokens/new-for-assistant",
        "/dashboard/tokens/{token}/rotate",
        "/dashboard/tokens/{token}/revoke",
        "/oauth/authorize?{consent}",
        "/dashboard/studio",
        "/dashboard/studio/store",
        "/dashboard/studio/listing-new",
        "/dashboard/studio/listings/{draft}",
        "/dashboard/studio/listings/{draft}/details",
        "/dashboard/studio/listings/{draft}/preview",
        "/dashboard/studio/listings/{sent}/preview/pictures/1",
        "/dashboard/studio/listings/{draft}/prices",
        "/dashboard/studio/listings/{draft}/discounts",
        "/dashboard/studio/listings/{draft}/licences",
        "/dashboard/studio/listings/{draft}/files",
        "/dashboard/studio/listings/{draft}/manifest",
        "/dashboard/studio/listings/{draft}/delete",
        "/dashboard/studio/listings/{sent}/reviews",
        "/dashboard/studio/listings/{sent}/withdraw",
        "/dashboard/studio/listings/{own}/unpublish",
        "/dashboard/studio/sales",
        "/dashboard/studio/sales/listings",
        "/dashboard/studio/sales/statement",
        "/dashboard/studio/sales/refunds",
        "/dashboard/studio/sales/refunds/{refund_request}",
        "/dashboard/studio/payouts",
        "/dashboard/studio/payout-details/INR",
        "/payout-details/undo/{undo}",
        "/dashboard/account/mails",
        "/mails/unsubscribe/{unsubscribe}",
    ],
    # One of each kind; `pages_of_the_admin` names every list and a row of each.
    "admin": [
        "/admin/",
        "/admin/search?q=halden",
        "/admin/search?q=zzqqxx",
        "/admin/catalog/",
        "/admin/accounts/user/?q=zzqqxx",
        "/admin/catalog/listing/?status__exact=Published",
        "/admin/catalog/listingreview/?kind=Listing",
        "/admin/catalog/listingreview/{review}/change/",
        "/admin/catalog/listingreview/{review}/reject/",
        "/admin/catalog/listingreview/{review}/block/",
        "/admin/catalog/category/add/",
        "/admin/developers/app/{app}/change/",
        "/admin/developers/app/{app}/set-limit/",
        "/admin/developers/developerapplication/{application}/change/",
        "/admin/developers/scopereview/{scope_review}/change/",
        "/admin/auth/group/{group}/change/",
        "/admin/auth/group/{group}/delete/",
        "/admin/auth/group/{group}/history/",
        "/admin/developers/metadatareview/{document}/change/",
        "/admin/vendors/vendorprofile/{applicant}/change/",
        "/admin/catalog/listing/{asset_id}/takedown/",
        "/admin/wallet/order/{order}/refund/",
        "/admin/wallet/refundrequest/{refund_review}/change/",
        "/admin/wallet/refundrequest/{refund_review}/refuse/",
        "/admin/wallet/walletpayout/{wallet_payout}/change/",
        "/admin/wallet/walletpayout/{wallet_payout}/pay/",
        "/admin/wallet/payoutbatch/{batch}/change/",
        "/admin/wallet/vendorpayout/{payout}/bounce/",
    ],
}
# Routes that show no page of their own, and why.
NO_PAGES = {
    "serves an archive or an index to programs, with a link for a credential": {"agent-skill-owned", "agent-skills-owned"},
    "takes a form and leads on; what takes forms only is found": {
        "billing-logo",
        "checkout-begin",
        "favourite-add",
    },
    "a file or an answer for a program": {
        "app-logo",
        "account-export-file",
        "cam",
        "docs-source",
        "license-terms-text",
        "favicon",
        "library-item-certificate",
        "library-item-certificate-signed",
        "library-item-credential",
        "credential-context",
        "llms",
        "order-page-credit-note",
        "order-page-evidence",
        "sale-evidence",
        "order-page-invoice",
        "order-page-receipt",
        "payouts-csv",
        "robots",
        "sales-invoices-csv",
        "sitemap",
        "sitemap-part",
        "top-up-receipt",
        "file-preview",
        "file-preview-poster",
        "specimen",
        "studio-slug-check",
        "studio-specimen",
        "studio-store-slug-check",
        "suggest",
    },
    "shows a new secret once, as the tests of new secrets see": {"key-secret", "token-secret", "mcp-token-secret", "webhook-secret"},
    "asks for a state of the sign-in that the tests of accounts make": {
        "account_confirm_login_code",
        "account_reset_password_from_key",
        "account_set_password",
        "mfa_activate_totp",
        "mfa_authenticate",
        "mfa_deactivate_totp",
        "mfa_download_recovery_codes",
        "mfa_generate_recovery_codes",
        "mfa_reauthenticate",
        "mfa_view_recovery_codes",
    },
}


@dataclass
class World:
    """The shop.

    Args:
        people: By the names of `PAGES`.
        places: What stands in the paths.
    """

    people: dict[str, User]
    places: dict[str, str] = field(default_factory=dict)

    def pages(self) -> list[tuple[str, str]]:
        """Return who looks at which path."""
        return [(who, path.format_map(self.places)) for who, paths in PAGES.items() for path in paths]

    def client(self, who: str) -> Client:
        client = Client()
        if who in self.people:
            client.force_login(self.people[who])
        return client


def pages_of_the_admin() -> list[str]:
    """Return the path of every list, and of the page of a row of each."""
    lists = [address(model, "changelist") for model in admin.site._registry]
    rows = [address(model, "change", _row_of(model).pk) for model in admin.site._registry]
    return [*lists, *rows]


def _row_of(model: type[Model]) -> Model:
    row = model._default_manager.order_by("pk").first()
    assert row is not None, f"nothing to look at: make a {model.__name__}"
    return row


def newcomer() -> User:
    """Return someone as the sign-up leaves them."""
    user: User = UserFactory()
    EmailAddress.objects.create(user=user, email=user.email, primary=True)
    return user


def make_world() -> World:
    """Make someone who does everything, and what they did; jobs must wait meanwhile."""
    profile = payee()
    member = profile.user
    EmailAddress.objects.create(user=member, email=member.email, verified=True, primary=True)
    world = World({"newcomer": newcomer(), "member": member, "admin": UserFactory(is_staff=True, is_superuser=True)})
    credit_wallet(user=member, currency="INR", amount_minor=10_000_000, reason="test", actor=None)
    asset = on_sale(archive(), title="Halden Grotesk", slug="halden-grotesk", tags=["sans"])
    owned = on_sale(archive("owned"), title="Owned Sans", slug="owned-sans")
    PreviewFactory(listing=asset, content_type="image/png", details={"width": 64, "height": 64})
    FeaturedListing.objects.create(listing=asset)
    Favourite.objects.create(user=member, listing=asset)
    own = on_sale(archive("own"), store=profile.store, title="Of my own", slug="of-my-own")
    # Words that are longer than a phone is wide.
    draft = ListingFactory(store=profile.store, title="W" * 118, slug="w" * 80, short_description="x" * 200, tags=["y" * 40])
    sent = submitted(ListingFactory(store=profile.store, slug="sent-in"))
    reject_listing(review=sent, findings=[{"code": "description_thin"}, {"code": "file_broken"}], note="Nearly.", actor=UserFactory())
    sent = submitted(Listing.objects.get(pk=sent.listing_id))
    with_candidate(own, "newer")
    for preview in Preview.objects.all():
        store_preview(preview)
    invoice_cases.operator()
    invoice_cases.rate("DE", 1900)
    invoice_cases.billed(member, invoice_cases.BERLIN)
    ExchangeRate.objects.create(currency="USD", tax_currency="INR", rate=80, valid_from=timezone.now().date())
    order = bought(owned, member)
    bought(own)
    payout = paid_payout(account_of(profile), "2026-03")
    invoice_cases.issue()
    refund_request = asked_to_refund(downloaded_order(bought(own)))
    world.places["refund_request"] = str(refund_request.pk)
    second = on_sale(archive("declined"), title="Declined Sans", slug="declined-sans", store=make_vendor().store)
    world.places["declined"] = str(declined_request(downloaded_order(bought(second, member))).order_id)
    world.places["rejected"] = str(decision_on(rejected(store=profile.store)).pk)
    world.places["appealed"] = str(appealed(rejected(store=profile.store)).decision_id)
    quote = make_quote(buyer=member, purchase=PurchaseRequest(str(asset.id), currency="INR"))
    world.places |= {
        "asset": asset.slug,
        "asset_id": str(asset.pk),
        "store": asset.store.slug,
        "owned": owned.slug,
        "own": own.slug,
        "draft": draft.slug,
    }
    world.places |= {"sent": sent.listing.slug, "order": str(order.id), "quote": str(quote.id), "review": str(sent.id)}
    world.places |= {"payout": str(payout.pk), "batch": str(payout.batch_id)}
    world.places["unsubscribe"] = signing.dumps([member.pk.hex, "sale"], salt="accounts.mail.unsubscribe")
    world.places["undo"] = signing.dumps(str(payout.details_id), salt="vendors.payout-details.undo")
    world.places["wallet_payout"] = str(requested_payout(member, 1_000).pk)
    world.places["approval"] = str(asked_to_approve(bounded(member), asset).pk)
    top_up = requested_top_up(member, 1_000)
    world.places |= {"top_up": str(top_up.pk), "payment_page": urlsplit(top_up.payment_url).path}
    world.places["operation"] = next(iter(operations()))
    for_other = bought(asset, member, licensee=Licensee("Client GmbH", "client@example.com"))
    Licence.objects.filter(order_id=for_other.pk).update(claim_digest=digest_of("claim"))
    world.places |= {"for_other": str(for_other.pk), "claim": "claim"}
    licence = Licence.objects.get(holder=member, listing=owned)
    world.places["certificate"] = str(licence.pk)
    issue_link(licence=licence)
    world.places |= developed(member, world.people["admin"]) | _for_admins()
    return world


def store_preview(preview: Preview) -> None:
    default_storage.save_bytes(preview.object_key, picture())


def developed(member: User, reviewer: User) -> dict[str, str]:
    """Make someone a developer with an app that has one of everything."""
    soon = timezone.now() + timedelta(days=30)
    application = submit_application(user=member, what="A font picker", why="It reads the catalog", actor=member)
    approve_application(application=application, reason="Fine.", actor=reviewer)
    app, connected = AppFactory(user=member, name="Picker", redirect_uris=CALLBACK), AppFactory(name="Connected", redirect_uris=CALLBACK)
    key, _ = issue_api_key(app=app, name="laptop", actor=member)
    mcp_token, _ = issue_mcp_token(app=app, name="agent", expires_at=soon, actor=member, password_confirmed=True)
    endpoint, _ = create_endpoint(app=app, url="https://app.example/hook", events=[EventType.ASSET_PUBLISHED], actor=member)
    delivery = send_test_event(endpoint=endpoint, actor=member)
    token, _ = issue_token_without_app(
        user=member,
        name="script",
        scopes=frozenset({Scope.WALLET_SPEND, Scope.LIBRARY_READ}),
        expires_at=soon,
        actor=member,
        password_confirmed=True,
        limits=PLENTY,
    )
    connect_app(member, connected, frozenset({Scope.LIBRARY_READ, Scope.WALLET_SPEND}))
    authorization_query = {
        "response_type": "code",
        "client_id": connected.client_id,
        "redirect_uri": CALLBACK,
        "scope": "library:read",
        "state": "s",
    }
    return {
        "app": str(app.id),
        "connected": str(connected.id),
        "key": str(key.id),
        "mcp_token": str(mcp_token.pk),
        "endpoint": str(endpoint.pk),
        "delivery": str(delivery.pk),
        "token": str(token.pk),
        "consent": urlencode(authorization_query | {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}),
    }


def _for_admins() -> dict[str, str]:
    for make in subjects.LOOKED_AT:
        make()
    now = timezone.now()
    Worker.objects.create(id="w", host="here", pid=1, seen_at=now)
    Schedule.objects.create(command="payout", last_due_at=now)
    Discount.objects.create(listing=ListingFactory(slug="discounted"), percent=10, code="SPRING", ends_at=now + timedelta(days=1))
    group = Group.objects.create(name="Reviewers")
    group.permissions.set(Permission.objects.filter(content_type__app_label="catalog"))
    made = {"application": subjects.application(), "scope_review": subjects.scope_review(), "group": group}
    made |= {"document": subjects.changed_client(), "applicant": subjects.vendor()}
    made["refund_review"] = RefundRequest.objects.filter(status="InReview").latest("asked_at")
    return {name: str(row.pk) for name, row in made.items()}


def stock(listings: int, seed: int = 1) -> None:
    fill(listings=listings, seed=seed, progress=lambda _done, _total: None)
    rebuild()


def crowd(world: World, count: int = 1_000) -> None:
    """Make that many more of what there can be many of: listings, the member's own ones, orders and licences; of keys and tokens some; and all apps."""
    member = world.people["member"]
    stock(count, seed=7)
    draft = Listing.objects.get(slug=world.places["draft"])
    Listing.objects.bulk_create(ListingFactory.build_batch(count, store=draft.store, category=draft.category))
    for number in range(6):
        issue_api_key(app=App.objects.get(pk=world.places["app"]), name=f"key {number}", actor=member)
        personal_token(member)
    App.objects.bulk_create(AppFactory.build_batch(bounds.MAX_APPS - App.objects.filter(user=member).count(), user=member))
    order, licence = Order.objects.get(pk=world.places["order"]), Licence.objects.get(order_id=world.places["order"])
    others = (
        Listing.objects.filter(status="Published")
        .exclude(pk__in=Licence.objects.filter(holder=member).values("listing"))
        .exclude(store=draft.store)[:count]
    )
    orders = Order.objects.bulk_create(_like(order, listing_id=other.pk, title=other.title) for other in others)
    Licence.objects.bulk_create(_like(licence, listing_id=each.listing_id, title=each.title, order_id=each.pk) for each in orders)


def _like(row: Any, **others: Any) -> Any:
    kept = {each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields if not each.primary_key}
    return type(row)(**kept | others)
