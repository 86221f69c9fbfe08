"""What is someone else's, at every address of the service: who names it finds nothing, and changes nothing.

The addresses are those of the resolver, so that a new one with a name in it fails here until the tables below say whose it names.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from catalog.models import Deliverable, Discount, FilePreview, Listing, Preview
from developers.models import App
from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from marketplace.mcp.tools.calling import TOOLS
from tests.architecture.source import patterns
from tests.callers import personal_token
from tests.catalog.cases import rejected
from tests.contract.calls import rows
from tests.factories import PASSWORD, ListingFactory, UserFactory
from tests.mcp.speaking import Speaker, mcp_token
from tests.review.cases import appealed
from tests.shop import archive, bought, funded, on_sale
from tests.studio.cases import ready
from tests.wallet import invoice_cases
from tests.wallet.approval_cases import bounded
from tests.wallet.approval_cases import requested_approval as asked_to_approve
from tests.wallet.payees import payee
from tests.wallet.refund_request_cases import downloaded_order
from tests.wallet.refund_request_cases import requested_refund as asked_to_refund
from tests.wallet.top_up_cases import requested_top_up
from tests.wallet.wallet_payout_cases import requested_payout
from vendors.models import Upload
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote

from .world import developed

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "patch", "delete")
# What a name in an address stands for: the first entry whose beginning and name fit.
NAMED = (
    ("dashboard/connections/", "app_id", "connected"),
    ("dashboard/spending/apps/", "app_id", "connected"),
    ("dashboard/apps/", "app_id", "app"),
    ("dashboard/apps/<uuid:app_id>/keys/", "credential_id", "key"),
    ("dashboard/apps/<uuid:app_id>/mcp-tokens/", "credential_id", "mcp_token"),
    ("dashboard/apps/", "endpoint_id", "endpoint"),
    ("dashboard/apps/", "delivery_id", "delivery"),
    ("dashboard/spending/tokens/", "token_id", "token"),
    ("dashboard/tokens/", "credential_id", "token"),
    ("dashboard/studio/sales/orders/", "order_id", "sale"),
    ("dashboard/studio/sales/refunds/", "refund_request_id", "refund_request"),
    ("dashboard/studio/", "slug", "listing"),
    ("dashboard/studio/", "preview_id", "preview"),
    ("dashboard/studio/", "discount_id", "discount"),
    ("dashboard/studio/", "upload_id", "upload"),
    ("dashboard/check/", "slug", "listing"),
    ("dashboard/library/", "slug", "owned"),
    ("dashboard/orders/", "order_id", "order"),
    ("dashboard/wallet/payouts/", "wallet_payout_id", "wallet_payout"),
    ("dashboard/approvals/", "approval_id", "approval"),
    ("api/v1/approvals/", "approval_id", "approval"),
    ("dashboard/wallet/top-ups/", "top_up_id", "top_up"),
    ("api/v1/wallet/top-ups/", "top_up_id", "top_up"),
    ("dashboard/appeals/", "decision_id", "decision"),
    ("api/v1/appeals/", "appeal_id", "appeal"),
    ("api/v1/webhooks/", "webhook_id", "endpoint"),
    ("api/v1/webhooks/", "delivery_id", "delivery"),
    ("checkout/", "quote_id", "quote"),
    ("assets/", "slug", "listing"),
    ("file-previews/", "preview_id", "file_preview"),
    ("api/v1/assets/", "asset_id", "listing_id"),
    ("api/v1/previews/", "preview_id", "preview"),
    ("api/v1/vendor/", "asset_id", "listing_id"),
    ("api/v1/vendor/", "preview_id", "preview"),
    ("api/v1/vendor/", "discount_id", "discount"),
    ("api/v1/vendor/", "upload_id", "upload"),
    ("api/v1/library/", "asset_id", "owned_id"),
    ("api/v1/orders/", "order_id", "order"),
)
# Names in them that are nobody's.
PLAIN = {
    ("studio-picture-upload", "slot"): "1",
    ("check-listing-field", "form"): "details",
    ("check-listing-field", "field"): "title",
    ("check-field", "form"): "app",
    ("check-field", "field"): "name",
    ("console-operation", "operation_id"): "searchAssets",
    ("payout-details", "currency"): "USD",
    ("sales-invoices-csv", "month"): "2026-03",
    ("asset-picture", "number"): "1",
    ("studio-preview-picture", "number"): "1",
}
OPEN_TO_ALL = {
    "names nothing of a person's": {
        "check-field",
        "console-operation",
        "docs-operation",
        "docs-page",
        "docs-source",
        "license-terms",
        "license-terms-text",
        "payout-details",
        "problem",
        "sales-invoices-csv",
        "sitemap-part",
    },
    "is public: a store, a free skill, and a certificate, which its holder shows to whom they like": {
        "store",
        "agent-skill",
        "certificate",
        "certificate-status-list",
    },
    "takes a secret or a signature for a credential": {
        "account_confirm_email",
        "agent-skill-owned",
        "agent-skills-owned",
        "account_reset_password_from_key",
        "library-package",
        "licence-claim",
        "mail-unsubscribe",
        "payout-details-undo",
        "test-payment",
        "payment-events",
    },
}
OF_AN_ACCOUNT = ("dashboard", "checkout/")
# Of the admin, `tests/admin` knows who may do what.
OF_THE_ADMIN = "admin/"
# What else may answer: that the caller does not own what anyone may buy, the way to a page that is not there, and that
# a preview is gone from one's own listing, which it may be already.
ALSO = {
    "library-download": {403},
    "library-certificate": {403},
    "library-certificate-pdf": {403},
    "library-credential": {403},
    "library-versions": {403},
    "checkout-begin": {302},
    "favourite-add": {302},
    "studio-preview-remove": {302},
}
# A key where a token is needed, or the other way round.
OTHER_CREDENTIAL = {401}
# Where any other body would be refused before it is looked for what is named.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    # Of a GET it is the query.
    ("asset-rights", "get"): {"use": "team"},
    ("library-download", "post"): {},
    ("order-refund-requests", "post"): {"reason": "other"},
    ("vendor-preview", "patch"): {"altText": "Taken"},
    ("vendor-preview", "delete"): {},
    ("vendor-discounts", "post"): {"percent": 10, "endsAt": "2030-01-31T12:00:00Z"},
    ("vendor-discount", "delete"): {},
    ("vendor-upload-finish", "post"): {},
    ("webhook-api", "patch"): {"description": "Taken"},
    ("webhook-api", "delete"): {},
    ("webhook-api-secret", "post"): {},
    ("webhook-api-redelivery", "post"): {},
}
# The tools that name nothing, and what an argument of the others stands for.
NAMELESS_TOOLS = {"search_assets", "list_assets", "list_categories", "list_library", "get_wallet", "request_top_up", "who_am_i"}
TOOL_ARGUMENTS = {"assetId": "listing_id", "quoteId": "quote", "idempotencyKey": "key"}
TOOL_CHOICES = {"check_rights": {"use": "team"}}
# A form that every page could take, were the thing one's own.
FORM: dict[str, Any] = {
    "title": "Taken",
    "name": "Taken",
    "url": "https://taken.example/hook",
    "events": ["asset.published"],
    "redirect_uris": "https://taken.example/callback",
    "reason": "Taken",
    "text": "Taken",
    "confirm": "on",
    "password": PASSWORD,
    "direction": "up",
    "alt": "Taken",
    "on": "1",
}


@dataclass
class Everyone:
    """Two people who do everything, and by the same names what is whose."""

    me: User
    mine: dict[str, str]
    theirs: dict[str, str]


def _things(reviewer: User) -> tuple[User, dict[str, str]]:
    """Make someone who builds, sells and buys, and name one of each of their things."""
    profile = payee()
    user = profile.user
    credit_wallet(user=user, currency="INR", amount_minor=10_000_000, reason="test", actor=None)
    listing = ready(ListingFactory(store=profile.store))
    owned, refund = on_sale(archive()), asked_to_refund(downloaded_order(bought(on_sale(archive(), store=profile.store))))
    appeal = appealed(rejected(store=profile.store))
    things = developed(user, reviewer) | {
        "decision": str(appeal.decision_id),
        "appeal": str(appeal.pk),
        "listing": listing.slug,
        "listing_id": str(listing.pk),
        "preview": str(Preview.objects.get(listing=listing).pk),
        "file_preview": str(_file_preview(listing).pk),
        "discount": str(Discount.objects.create(listing=listing, percent=10, ends_at=timezone.now() + timedelta(days=1)).pk),
        "upload": str(Upload.objects.create(listing=listing, filename="a.zip", size=1, expires_at=timezone.now() + timedelta(days=1)).pk),
        "owned": owned.slug,
        "owned_id": str(owned.pk),
        "order": str(downloaded_order(bought(owned, user)).pk),
        "sale": str(refund.order_id),
        "refund_request": str(refund.pk),
        "quote": str(make_quote(buyer=user, purchase=PurchaseRequest(str(on_sale().pk), currency="INR")).pk),
        "wallet_payout": str(requested_payout(user, 1_000).pk),
        "top_up": str(requested_top_up(user, 1_000).pk),
        "approval": str(asked_to_approve(bounded(user)).pk),
    }
    return user, things


def _file_preview(listing: Listing) -> FilePreview:
    poster = {"key": f"previews/{listing.pk}.poster", "size": 1, "sha256": "a" * 64}
    return FilePreview.objects.create(
        deliverable=Deliverable.objects.get(listing=listing),
        kind="Animation",
        position=0,
        object_key=f"previews/{listing.pk}",
        size=1,
        sha256="a" * 64,
        renditions={"poster": poster},
    )


@pytest.fixture
def everyone(jobs_wait: None) -> Everyone:
    reviewer = funded()
    invoice_cases.operator()
    me, mine = _things(reviewer)
    _, theirs = _things(reviewer)
    invoice_cases.issue()
    return Everyone(me, mine, theirs)


def _names_of(route: str) -> list[str]:
    return re.findall(r"<(?:\w+:)?(\w+)>", route)


def _pages_of_an_account(things: dict[str, str]) -> list[tuple[str, str]]:
    """Return the name and the address of every page of an account, with these things where it names some."""
    pages = [(route, pattern.name or "") for route, pattern in patterns(get_resolver()) if route.startswith(OF_AN_ACCOUNT)]
    return [(name, _any_address(route, name, things)) for route, name in pages]


def _named() -> Iterator[tuple[str, str]]:
    """Yield the route and the name of every address that has a name in it."""
    for route, pattern in patterns(get_resolver()):
        if _names_of(route) and not route.startswith(OF_THE_ADMIN):
            yield route, pattern.name or ""


def _thing(route: str, url_name: str, name: str) -> str | None:
    """Return what a name in an address stands for, None where it is nobody's."""
    if (url_name, name) in PLAIN:
        return None
    found = [thing for beginning, known, thing in NAMED if route.startswith(beginning) and known == name]
    assert found, f"{route}: whose is <{name}>? Say so in NAMED or in OPEN_TO_ALL."
    return found[0]


def _guarded() -> list[tuple[str, str]]:
    excused = {name for names in OPEN_TO_ALL.values() for name in names}
    return [(route, name) for route, name in _named() if name not in excused]


def _address(route: str, url_name: str, *whose: dict[str, str]) -> str:
    """Return the address with the things of these people, one for each name that is somebody's."""
    things, values = [*whose], {}
    for name in _names_of(route):
        thing = _thing(route, url_name, name)
        values[name] = things.pop(0)[thing] if thing else PLAIN[url_name, name]
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], route)


def _any_address(route: str, url_name: str, things: dict[str, str]) -> str:
    """Return an address, with these things where it names some."""
    return _address(route, url_name, *[things] * _persons_in(route, url_name))


def _persons_in(route: str, url_name: str) -> int:
    return sum(1 for name in _names_of(route) if _thing(route, url_name, name))


def _with_theirs(route: str, url_name: str, everyone: Everyone) -> list[str]:
    """Return the address with each mixture of theirs and mine in which something is theirs."""
    mixtures = product((everyone.theirs, everyone.mine), repeat=_persons_in(route, url_name))
    return [_address(route, url_name, *whose) for whose in mixtures if everyone.theirs in whose]


def test_every_address_that_names_something_is_in_the_tables() -> None:
    named = {name for _, name in _named()}
    excused = [name for names in OPEN_TO_ALL.values() for name in names]
    assert set(excused) <= named, "an address is gone"
    for route, name in _guarded():
        assert _persons_in(route, name), route


def _callers(everyone: Everyone) -> dict[str, list[dict[str, str]]]:
    """Return the headers of each credential that someone may have: of pages none but the session, of the API a token and a key."""
    me = everyone.me
    _, token = personal_token(me)
    _, key = issue_api_key(app=App.objects.get(pk=everyone.mine["app"]), name="all", actor=me)
    return {"pages": [{}], "api": [{"authorization": f"Bearer {token}"}, {"x-api-key": key}]}


def _form(method: str) -> dict[str, Any]:
    return {} if method == "get" else FORM


def _send(client: Client, method: str, address: str, headers: dict[str, str], body: dict[str, Any], *, json: bool = False) -> Any:
    if method == "get":
        return client.get(address, body, headers=headers)
    if json:
        return getattr(client, method)(address, body, content_type="application/json", headers=headers)
    # Of forms, only POST has fields.
    return getattr(client, method)(address, *([body] if method == "post" else []))


def test_rows_of_other_users_are_not_found_or_changed_by_any_method_at_any_address(everyone: Everyone, unlimited: None) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(everyone.me)
    callers = _callers(everyone)
    faults = []
    before = rows()
    for route, name in _guarded():
        api = route.startswith("api/")
        addresses = _with_theirs(route, name, everyone)
        # Which these are, and that the others are refused, is tested of every address.
        allowed = [method for method in METHODS if method.upper() in Client().options(addresses[0])["Allow"].split(", ")]
        assert allowed, route
        for address, headers, method in product(addresses, callers["api" if api else "pages"], allowed):
            answer = _send(client, method, address, headers, BODIES.get((name, method), _form(method)), json=api).status_code
            if answer not in {404} | ALSO.get(name, set()) | (OTHER_CREDENTIAL if headers else set()):
                faults.append((method, address, answer))
    assert not faults, "\n".join(map(str, faults))
    assert rows() == before


def test_someone_signed_out_is_sent_to_sign_in_at_every_page_of_an_account(everyone: Everyone) -> None:
    before = rows()
    addresses = [address for _, address in _pages_of_an_account(everyone.theirs)]
    assert len(addresses) > 40
    sign_in = reverse("account_login")
    for address, method in product(addresses, ("get", "post")):
        answer = _send(Client(), method, address, {}, _form(method))
        # What scripts ask for is refused or empty, not led elsewhere.
        assert answer.status_code in {204, 401, 403, 405} or answer.get("Location", "").split("?")[0] == sign_in, (
            address,
            answer.status_code,
        )
    assert rows() == before


def test_form_without_its_csrf_token_is_refused_at_every_page_of_an_account(everyone: Everyone) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(everyone.me)
    before = rows()
    # What is only looked at takes no form.
    assert {
        name: status
        for name, address in _pages_of_an_account(everyone.mine)
        if (status := client.post(address, FORM).status_code) not in {403, 405}
    } == {}
    assert rows() == before


def test_pages_of_an_account_show_the_users_own_rows_alone_and_are_not_cached(everyone: Everyone) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(everyone.me)
    answers = {name: client.get(address) for name, address in _pages_of_an_account(everyone.mine)}
    assert {name for name, answer in answers.items() if "no-store" not in answer["Cache-Control"]} == set()
    # There is no specimen of a listing without a font, no credit note of an order that was not refunded, nothing to escalate, no logo,
    # and no receipt of a payment that was not made.
    missing = {"app-logo", "studio-specimen", "order-page-credit-note", "refund-escalate", "top-up-receipt"}
    guarded = {name for _, name in _guarded()} & answers.keys()
    assert {name for name in guarded if answers[name].status_code == 404} == missing
    # Names and numbers: one slug may be the beginning of another.
    # The preview of a draft is what buyers see, with others' listings that are like it.
    shown = {
        word
        for name, answer in answers.items()
        if not answer.streaming and name != "studio-preview"
        for word in re.findall(r"[\w-]+", answer.content.decode(errors="ignore"))
    }
    # What is made of a file is shown once the file is approved.
    things = everyone.mine.keys() - {"consent", "owned_id", "decision", "appeal", "file_preview"}
    assert {name for name in things if everyone.mine[name] not in shown} == set()
    assert {name for name in things if everyone.theirs[name] in shown} == set()


def test_superuser_does_not_find_rows_of_others_on_account_pages(everyone: Everyone) -> None:
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    addresses = [_any_address(route, name, everyone.theirs) for route, name in _guarded() if route.startswith(OF_AN_ACCOUNT)]
    assert len(addresses) > 20
    # Some take POST only.
    assert {address: status for address in addresses if (status := client.get(address).status_code) not in {404, 405}} == {}


def test_tools_do_not_find_rows_of_other_users(everyone: Everyone) -> None:
    speaker = Speaker(mcp_token(everyone.me)[1])
    before = rows()
    named = set()
    for tool in TOOLS.values():
        arguments = {name: everyone.theirs[TOOL_ARGUMENTS[name]] for name in tool.input_schema["properties"] if name in TOOL_ARGUMENTS}
        if arguments and tool.name not in NAMELESS_TOOLS:
            named.add(tool.name)
            result = speaker.call(tool.name, **arguments, **TOOL_CHOICES.get(tool.name, {}))
            assert result["isError"], tool.name
            assert result["content"][0]["text"].startswith("not_found: "), (tool.name, result)
    assert named == set(TOOLS) - NAMELESS_TOOLS, "a new tool: name what its arguments stand for in TOOL_ARGUMENTS"
    assert rows() == before
