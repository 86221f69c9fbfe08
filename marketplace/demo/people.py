"""The demo's users and their credentials, created through the services that the admin and the dashboard use."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.utils import timezone

from developers.authentication import principal_of_bearer, principal_of_key
from developers.models import App
from developers.models.applications import ApplicationStatus
from developers.models.apps import AppStatus
from developers.selectors import (
    apps_of,
    current_application,
    keys_of,
    mcp_tokens_of,
    open_scope_review_of,
    tokens_without_app_of,
)
from developers.services.applications import approve_application, submit_application
from developers.services.apps import create_app
from developers.services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app, revoke_api_key, revoke_token
from developers.services.scopes import ScopeDecision, decide_scopes, reject_app
from developers.services.spending import LimitValues
from marketplace.accounts.models import Tier, User
from marketplace.core.errors import InvalidCredential
from marketplace.core.money import WALLET_CURRENCIES, Currency
from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.review.appeals import decision_to_appeal, submit_appeal
from marketplace.review.models import AppealKind
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import apply, approve_vendor
from wallet.approval_queries import waiting_approvals_of
from wallet.card_credit import top_ups_of
from wallet.providers import SimulatedProvider, provider_for
from wallet.selectors import wallet_of, wallet_payouts
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.simulated_payments import pay
from wallet.services.spending_requests import spend_or_request_approval
from wallet.services.top_ups import TopUpRequest, request_top_up
from wallet.services.wallet_payouts import request_wallet_payout

from .entries import listings_to_buy

# Reserved for documentation: no mail to it ever arrives.
DOMAIN = "demo.example"
APP_NAME = "Demo client"
REJECTED_APP = "Wish list"
CREDENTIAL_NAME = "quickstart"
ASSISTANT = "Shopping assistant"
TOKEN_LIFETIME = timedelta(days=365)
REASON = "Demo content"
FUNDS_MINOR = {"INR": 50_000_00, "USD": 500_00}
PAYOUT_MINOR = 1_500_00
TOP_UP_MINOR = 2_000_00
# As much as the wallet holds.
LIMITS = tuple(LimitValues(currency, total_minor=FUNDS_MINOR[currency]) for currency in WALLET_CURRENCIES)
STORES = {
    "vendor": (
        "Northlight Type & Motion",
        "northlight",
        "Two people in Bergen who draw letters and make them move. Everything is tested in real projects before it is sold here.",
    ),
    "otherVendor": ("Second Street Studio", "second-street", "Templates and sounds from a small studio above a bakery in Pune."),
}

# The address of the service as `baseUrl`, and for each role the email address, the password, keys and tokens.
Credentials = dict[str, Any]


@dataclass(frozen=True)
class People:
    """The demo's users by role."""

    admin: User
    developer: User
    buyer: User
    customer: User
    profiles: dict[str, VendorProfile]


def make_people(credentials: Credentials) -> People:
    """Create the missing users; `credentials` gets a password for each who signs in, the known one if it is still valid."""
    admin = _user("admin", "Asha Admin", credentials, is_staff=True, is_superuser=True)
    developer = _user("developer", "Deven Developer", credentials, tier=Tier.PRO)
    buyer = _user("buyer", "Bo Buyer", credentials, tier=Tier.PRO)
    # Makes the purchases that the vendor is paid for; has no password.
    customer = _user("customer", "Chandra Customer", None)
    for user in (developer, buyer, customer):
        _fund(user, admin)
    _approve_developer(developer, admin)
    profiles = {
        "vendor": _vendor("vendor", "Vera Vendor", credentials, admin),
        "otherVendor": _vendor("otherVendor", "Otto Vendor", credentials, admin),
    }
    return People(admin, developer, buyer, customer, profiles)


def make_requests(people: People) -> None:
    """Pay for credit, request a payout, appeal and apply as a developer, once each, so that the admin's queues have entries of today."""
    _top_up(people.buyer)
    _request_payout(people.developer)
    _appeal(people)
    applicant = _user("applicant", "Ana Applicant", None)
    if current_application(applicant) is None:
        what = "A plug-in that offers licensed fonts inside of a layout program."
        why = "It reads the catalog and the library of the person who uses it."
        submit_application(user=applicant, what=what, why=why, actor=applicant)


def make_approval(people: People) -> None:
    """Let the buyer's assistant ask for the approval of a purchase above its limit, unless a request already waits."""
    buyer = people.buyer
    if waiting_approvals_of(buyer).exists():
        return
    for token in tokens_without_app_of(buyer).active().filter(name=ASSISTANT):
        revoke_token(token=token, actor=buyer, reason="Replaced by quickstart")
    _, secret = issue_token_without_app(
        user=buyer,
        name=ASSISTANT,
        scopes=frozenset({Scope.WALLET_SPEND}),
        expires_at=timezone.now() + TOKEN_LIFETIME,
        actor=buyer,
        password_confirmed=True,
        limits=[LimitValues(Currency.INR, per_purchase_minor=1_00)],
    )
    wanted = listings_to_buy(buyer).filter(price_inr_minor__gt=1_00).first()
    if wanted is not None:
        spend_or_request_approval(
            purchase=PurchaseRequest(wanted.slug, Currency.INR),
            quote_id=None,
            idempotency_key=secrets.token_urlsafe(12),
            reason="You asked for a typeface for the poster of the spring fair, and this one fits.",
            principal=principal_of_bearer(f"Bearer {secret}"),
        )


def make_credentials(people: People, credentials: Credentials) -> None:
    """Add a valid key or token for each role to `credentials`; those that still work are kept."""
    credentials["developer"]["apiKey"] = _api_key(people, credentials["developer"].get("apiKey", ""))
    credentials["developer"]["mcpToken"] = _mcp_token(people, credentials["developer"].get("mcpToken", ""))
    credentials["buyer"]["bearerToken"] = _token(people.buyer, APP_SCOPES, credentials["buyer"].get("bearerToken", ""))
    for role, profile in people.profiles.items():
        credentials[role]["bearerToken"] = _token(profile.user, frozenset({Scope.VENDOR_MANAGE}), credentials[role].get("bearerToken", ""))


def _user(role: str, name: str, credentials: Credentials | None, **fields: Any) -> User:
    """Return the user of a role, and add the password to `credentials`; without `credentials`, the user gets no password."""
    email = f"{role.lower()}@{DOMAIN}"
    user = User.objects.filter(email=email).first()
    if credentials is None:
        return user or User.objects.create_user(email, None, name=name, **fields)
    known = credentials.setdefault(role, {})
    if user is None:
        known["password"] = secrets.token_urlsafe(12)
        user = User.objects.create_user(email, known["password"], name=name, **fields)
    elif not user.check_password(known.get("password", "")):
        known["password"] = secrets.token_urlsafe(12)
        user.set_password(known["password"])
        user.save(update_fields=["password"])
    EmailAddress.objects.update_or_create(user=user, email=email, defaults={"verified": True, "primary": True})
    known["email"] = email
    return user


def _fund(user: User, admin: User) -> None:
    wallet = wallet_of(user)
    for currency in WALLET_CURRENCIES:
        if wallet.balance_minor(currency) == 0:
            credit_wallet(user=user, currency=currency, amount_minor=FUNDS_MINOR[currency], reason=REASON, actor=admin)


def _top_up(user: User) -> None:
    """Pay for credit with the test provider, once, so that there is a receipt, and credit that can be returned to a card."""
    provider = provider_for(Currency.INR)
    if provider is not None and provider.name == SimulatedProvider.name and not top_ups_of(user).exists():
        top_up, _ = request_top_up(user=user, wanted=TopUpRequest(Currency.INR, TOP_UP_MINOR))
        pay(top_up=top_up, outcome="succeeded", late_at=timezone.now())


def _request_payout(user: User) -> None:
    if not wallet_payouts().filter(wallet__owner=user).exists():
        where_to = "Holder: Deven Developer\nAccount: DEMO 0000 0000 4711\nBank: of the demo"
        request_wallet_payout(
            user=user,
            currency=WALLET_CURRENCIES[0],
            amount_minor=PAYOUT_MINOR,
            payment_details=where_to,
            actor=user,
            password_confirmed=True,
        )


def _appeal(people: People) -> None:
    """Let the developer appeal the rejection of an app; a sandbox approves every app."""
    developer = people.developer
    if settings.SANDBOX or apps_of(developer).filter(name=REJECTED_APP).exists():
        return
    scopes = {Scope.WALLET_SPEND: "It buys what is on a wish list."}
    purpose = "Buys what is on a wish list as soon as it gets cheaper."
    app = create_app(user=developer, name=REJECTED_APP, purpose=purpose, scopes=scopes, actor=developer)
    reject_app(app=app, reason="Nobody confirms what it buys.", actor=people.admin)
    decision = decision_to_appeal(kind=AppealKind.APP, subject_id=str(app.pk), user=developer)
    text = "Its users allow it to buy, with a limit for each day, and can withdraw that at any time."
    submit_appeal(decision=decision, text=text, actor=developer)


def _approve_developer(developer: User, admin: User) -> None:
    application = current_application(developer)
    if application is None:
        what = "A shop window that shows, sells and delivers what the catalog holds."
        application = submit_application(user=developer, what=what, why="To try every part of the API.", actor=developer)
    if application.status == ApplicationStatus.PENDING:
        approve_application(application=application, reason=REASON, actor=admin)


def _vendor(role: str, name: str, credentials: Credentials, admin: User) -> VendorProfile:
    user = _user(role, name, credentials)
    profile = VendorProfile.objects.filter(user=user).first()
    if profile is None:
        store_name, slug, bio = STORES[role]
        profile = apply(user=user, store_name=store_name, store_slug=slug, bio=bio, actor=user)
    if profile.status == VendorStatus.PENDING:
        profile = approve_vendor(profile=profile, reason=REASON, actor=admin)
    return profile


def _app(people: People) -> App:
    app = apps_of(people.developer).filter(name=APP_NAME).first()
    if app is None:
        asked = dict.fromkeys(APP_SCOPES, "To try it.")
        purpose = "Calls every endpoint that a key can call."
        app = create_app(user=people.developer, name=APP_NAME, purpose=purpose, scopes=asked, actor=people.developer)
    review = open_scope_review_of(app)
    if app.status == AppStatus.PENDING and review is not None:
        granted = dict.fromkeys(APP_SCOPES, ScopeDecision(granted=True))
        app = decide_scopes(review=review, decisions=granted, note=REASON, actor=people.admin)
    return app


def _api_key(people: People, known: str) -> str:
    app = _app(people)
    try:
        if principal_of_key(known).user == people.developer:
            return known
    except InvalidCredential:
        # Its secret is lost: nobody can use it.
        for key in keys_of(app).active().filter(name=CREDENTIAL_NAME):
            revoke_api_key(key=key, actor=people.developer, reason="Replaced by quickstart")
    return issue_api_key(app=app, name=CREDENTIAL_NAME, actor=people.developer)[1]


def _mcp_token(people: People, known: str) -> str:
    app = _app(people)
    try:
        if principal_of_bearer(f"Bearer {known}").app == app:
            return known
    except InvalidCredential:
        for token in mcp_tokens_of(app).active().filter(name=CREDENTIAL_NAME):
            revoke_token(token=token, actor=people.developer, reason="Replaced by quickstart")
    ends = timezone.now() + TOKEN_LIFETIME
    return issue_mcp_token(app=app, name=CREDENTIAL_NAME, expires_at=ends, actor=people.developer, password_confirmed=True)[1]


def _token(user: User, scopes: frozenset[Scope], known: str) -> str:
    try:
        if principal_of_bearer(f"Bearer {known}").user == user:
            return known
    except InvalidCredential:
        for token in tokens_without_app_of(user).active().filter(name=CREDENTIAL_NAME):
            revoke_token(token=token, actor=user, reason="Replaced by quickstart")
    ends = timezone.now() + TOKEN_LIFETIME
    return issue_token_without_app(
        user=user, name=CREDENTIAL_NAME, scopes=scopes, expires_at=ends, actor=user, password_confirmed=True, limits=LIMITS
    )[1]
