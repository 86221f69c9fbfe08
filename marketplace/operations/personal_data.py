"""A user's personal data: exported on request, and erased or anonymised when the account is deleted."""

from collections.abc import Mapping, Sequence
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.db.models import Exists, Model, OuterRef, Q
from django.utils import timezone

from catalog.models import AgentManifest, Deliverable, Discount, Listing, ListingReview, Preview, Store, StorePicture
from catalog.models.listings import ListingStatus
from developers.models import (
    AccessToken,
    ApiKey,
    ApiUsage,
    App,
    AppLogo,
    AppOrigin,
    AppScope,
    ClientDocument,
    Consent,
    DeveloperApplication,
    FirstPartyToken,
    Grant,
    RefreshToken,
    ScopeReview,
    SpendingLimit,
)
from developers.models.applications import ApplicationMessage
from developers.models.webhooks import WebhookEndpoint, WebhookMessage
from library.models import DownloadLink, Favourite, Licence, Package
from marketplace.accounts.errors import AccountInUse
from marketplace.accounts.events import AccountDeleted, AccountEnding
from marketplace.accounts.models import MailOptOut, User
from marketplace.core.models import AuditEntry, IdempotencyRecord
from marketplace.review.models import Appeal
from vendors.models import PayoutDetails, Upload, VendorProfile
from wallet.licensees import licences_for_others
from wallet.models import (
    Approval,
    BillingDetails,
    CreditReference,
    Invoice,
    Journal,
    LedgerAccount,
    Order,
    Quote,
    RefundRequest,
    Reversal,
    TopUp,
    VendorPayout,
    WalletPayout,
    WalletSettings,
)
from wallet.selectors import with_earnings
from wallet.services.billing import erase_billing_details

from .blockers import deletion_blockers
from .models import AccountExport

# Model, lookup of the user and exported columns. Columns are listed one by one, so that a new secret is not exported.
SECTIONS: Mapping[str, tuple[type[Model], str, Sequence[str]]] = {
    "addresses": (EmailAddress, "user", ("email", "verified", "primary")),
    "mailsSwitchedOff": (MailOptOut, "user", ("topic",)),
    "applications": (
        DeveloperApplication,
        "user",
        ("status", "company", "website", "what", "why", "decision_reason", "created_at", "decided_at"),
    ),
    "apps": (App, "user", ("id", "name", "purpose", "status", "status_reason", "granted_scopes", "redirect_uris", "created")),
    "redirectUriRequests": (ClientDocument, "app__user", ("app_id", "status", "latest", "read_at")),
    "scopes": (AppScope, "app__user", ("app_id", "scope", "reason", "granted", "note", "requested_at", "decided_at")),
    "scopeReviews": (ScopeReview, "app__user", ("app_id", "status", "requested_at", "outcome", "note", "decided_at")),
    "apiKeys": (ApiKey, "app__user", ("id", "name", "last_four", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")),
    "tokens": (AccessToken, "user", ("id", "kind", "name", "hint", "scope", "created", "expires", "last_used_at", "revoked_at")),
    "connections": (Consent, "user", ("app__name", "scope", "given_at", "renewed_at", "withdrawn_at")),
    "authenticators": (Authenticator, "user", ("type", "created_at", "last_used_at")),
    "webhooks": (WebhookEndpoint, "app__user", ("id", "url", "description", "created_at", "disabled_at", "disabled_reason")),
    "spendingLimits": (
        SpendingLimit,
        "owner",
        ("currency", "per_purchase_minor", "per_day_minor", "total_minor", "categories", "created_at"),
    ),
    "store": (Store, "owner", ("name", "slug", "is_open")),
    "storePictures": (StorePicture, "store__owner", ("kind", "size", "uploaded_at")),
    "vendorProfile": (VendorProfile, "user", ("status", "bio", "application_data", "commission_rate_bp", "payouts_held_at", "applied_at")),
    "payoutDetails": (PayoutDetails, "profile__user", ("currency", "label", "created_at", "withdrawn_at")),
    "listings": (
        Listing,
        "store__owner",
        (
            "id",
            "slug",
            "title",
            "status",
            "short_description",
            "description",
            "readme",
            "tags",
            "version",
            "file_type",
            "supported_platforms",
            "video_url",
            "ai_training",
            "ai_origin",
            "ai_parts",
            "published_at",
        ),
    ),
    "files": (Deliverable, "listing__store__owner", ("listing_id", "original_filename", "version", "file_size", "uploaded_at")),
    "uploads": (Upload, "listing__store__owner", ("listing_id", "filename", "size", "offset", "expires_at")),
    "discounts": (Discount, "listing__store__owner", ("listing_id", "percent", "code", "starts_at", "ends_at", "created_at")),
    "previews": (Preview, "listing__store__owner", ("listing_id", "kind", "alt_text", "size", "uploaded_at")),
    "listingReviews": (
        ListingReview,
        "listing__store__owner",
        ("listing_id", "kind", "status", "submitted_at", "findings", "note", "decided_at"),
    ),
    "payouts": (
        VendorPayout,
        "account__owner",
        ("batch__run", "account__currency", "journal__vendor_net_minor", "status", "reason", "journal__at", "settled_at"),
    ),
    "walletSettings": (WalletSettings, "owner", ("currency_preference",)),
    "walletEntries": (
        Journal,
        "wallet__owner",
        ("kind", "at", "wallet__currency", "wallet_net_minor", "wallet_balance_minor", "order_id"),
    ),
    "quotes": (
        Quote,
        "owner",
        (
            *(
                "listing_id",
                "license_slug",
                "currency",
                "price_minor",
                "discount_code",
                "upgrade_from",
                "licensee_name",
                "licensee_email",
                "created_at",
                "expires_at",
            ),
        ),
    ),
    "approvals": (
        Approval,
        "owner",
        ("quote_id", "spender_name", "reason", "exceeded_limit", "status", "created_at", "expires_at", "decided_at", "order_id"),
    ),
    "orders": (
        Order,
        "buyer",
        (
            "id",
            "title",
            "store_name",
            "version",
            "license_slug",
            "license_name",
            "currency",
            "price_minor",
            "discount_code",
            "tax_minor",
            "consent_text",
            "status",
            "created_at",
            "refunded_at",
        ),
    ),
    "refundRequests": (
        RefundRequest,
        "order__buyer",
        ("order_id", "status", "reason", "details", "asked_at", "answer", "answered_at", "objection", "decision", "ended_at"),
    ),
    "billingDetails": (
        BillingDetails,
        "owner",
        ("name", "street", "postal_code", "city", "region", "country", "tax_id", "seen_in", "current", "created_at"),
    ),
    "invoices": (
        Invoice,
        "order__buyer",
        ("number", "kind", "date", "buyer_name", "description", "treatment", "country", "region", "currency", "gross_minor", "tax_minor"),
    ),
    "walletPayouts": (
        WalletPayout,
        "wallet__owner",
        (
            *("id", "wallet__currency", "hold__wallet_net_minor", "status", "payment_details", "reference", "reason"),
            *("requested_at", "settlement__at"),
        ),
    ),
    "topUps": (
        TopUp,
        "user",
        (
            "id",
            "currency",
            "amount_minor",
            "provider",
            "status",
            "page_reference",
            "payment_reference",
            "return_url",
            "created_at",
            "paid_at",
        ),
    ),
    "topUpReversals": (
        Reversal,
        "top_up__user",
        ("top_up_id", "kind", "reference", "amount_minor", "status", "opened_at", "decided_at"),
    ),
    "creditReferences": (CreditReference, "journal__wallet__owner", ("source", "reference", "journal__wallet_net_minor", "journal__at")),
    "licences": (
        Licence,
        "buyer",
        (
            *("id", "title", "store_name", "version", "order_id", "acquired_at", "revoked_at", "revoke_reason"),
            *("licensee_name", "licensee_email", "claimed_at"),
        ),
    ),
    "favourites": (Favourite, "user", ("listing_id", "added_at")),
    "downloads": (DownloadLink, "user", ("file_name", "version", "issued_at", "expires_at")),
    "appeals": (
        Appeal,
        "appellant",
        ("decision__at", "text", "status", "submitted_at", "answer", "decided_at"),
    ),
    "actions": (AuditEntry, "actor", ("at", "action", "subject_type", "subject_id", "reason")),
}


def export_account(user: User) -> dict[str, Any]:
    """Return everything about a user, as JSON values: rows by table, secrets left out."""
    account = {name: getattr(user, name) for name in ("id", "email", "name", "tier", "is_active", "date_joined", "last_login")}
    sections = {
        name: list(model._default_manager.filter(**{path: user}).order_by("pk").values(*columns))
        for name, (model, path, columns) in SECTIONS.items()
    }
    # A vendor's balance does not include sales since the last ledger digest.
    accounts = with_earnings(LedgerAccount.objects.filter(owner=user)).order_by("pk")
    wallets = [{"kind": row.kind, "currency": row.currency, "balance_minor": row.earned_minor} for row in accounts]
    return {"account": account, **sections, **_other_sections(user), "wallets": wallets}


def _other_sections(user: User) -> dict[str, list[Any]]:
    """Return the sections whose rows more than one column connects to the user."""
    tokens = AccessToken.objects.filter(user=user).values("pk")
    messages = ApplicationMessage.objects.filter(Q(application__user=user) | Q(author=user))
    events = WebhookMessage.objects.filter(Q(owner=user) | Q(app__user=user))
    usage = ApiUsage.objects.filter(Q(app__user=user) | Q(credential_id__in=tokens))
    for_others = licences_for_others(user).order_by("pk")
    return {
        "licencesForOthers": list(for_others.values("order_id", "licensee_name", "licensee_email", "claim_sent_at", "claimed_at")),
        # Questions are asked by reviewers, who are not named.
        "messages": list(messages.order_by("pk").values("text", "at", is_yours=Q(author=user))),
        "webhookMessages": list(events.order_by("pk").values("type", "subject", "data", "created_at")),
        "usage": list(usage.order_by("pk").values("day", "app_id", "kind", "operation", "scope", "status", "calls")),
    }


def anonymise(event: AccountDeleted) -> None:
    """Erase what is personal beyond the account itself; orders, licences without their licensee, links and the ledger stay.

    Raises:
        AccountInUse: there is a balance or an open payout, or something is on sale.
    """
    user = User.objects.get(pk=event.user_id)
    # Lock the accounts whose balances are checked below:
    # wallets before money held from them, the order of all services.
    list(LedgerAccount.objects.select_for_update().filter(owner=user).order_by("-kind", "currency"))
    blockers = deletion_blockers(user.pk)
    if blockers:
        raise AccountInUse(" ".join(blocker.message for blocker in blockers))
    _erase_credentials(user)
    _erase_developer_records(user)
    WalletPayout.objects.filter(wallet__owner=user).update(payment_details="")
    TopUp.objects.filter(user=user).update(return_url="", payment_url="")
    RefundRequest.objects.filter(order__buyer=user).update(details="", objection="")
    erase_billing_details(user=user)
    Licence.objects.filter(buyer=user).update(licensee_name="", licensee_email="", claim_digest="")
    SpendingLimit.objects.filter(owner=user).delete()
    IdempotencyRecord.objects.filter(owner=user).delete()
    Approval.objects.filter(owner=user).delete()
    Quote.objects.filter(owner=user, orders__isnull=True).delete()
    WalletSettings.objects.filter(owner=user).delete()
    AccountExport.objects.filter(user=user).delete()
    Favourite.objects.filter(user=user).delete()
    Appeal.objects.filter(appellant=user).delete()
    VendorProfile.objects.filter(user=user).update(bio="", application_data={})
    PayoutDetails.objects.filter(profile__user=user).update(encrypted="", label="")
    _anonymise_store(user)


def _erase_credentials(user: User) -> None:
    """Delete the user's API credentials, and those of other users for the user's apps."""
    for tokens in (AccessToken, RefreshToken, Grant):
        tokens._default_manager.filter(Q(user=user) | Q(application__user=user)).delete()
    FirstPartyToken.objects.filter(user=user).delete()
    ApiKey.objects.filter(app__user=user).delete()
    Consent.objects.filter(user=user).delete()


def _erase_developer_records(user: User) -> None:
    """Erase the user's applications, requests and webhooks, and what they wrote about their apps."""
    WebhookEndpoint.objects.filter(app__user=user).delete()
    WebhookMessage.objects.filter(Q(owner=user) | Q(app__user=user)).delete()
    # The rows stay, because other users' orders refer to them. They are unusable, as the account is inactive.
    AppLogo.objects.filter(app__user=user).delete()
    ClientDocument.objects.filter(app__user=user).delete()
    App.objects.filter(user=user).update(purpose="", redirect_uris="", status_reason="")
    AppScope.objects.filter(app__user=user).update(reason="", note="")
    ScopeReview.objects.filter(app__user=user).delete()
    AppOrigin.objects.filter(app__user=user).delete()
    DeveloperApplication.objects.filter(user=user).delete()


def _anonymise_store(user: User) -> None:
    """Delete listings that were never sold, and anonymise the store; receipts keep its former name."""
    sold = Exists(Order.objects.filter(listing=OuterRef("pk")))
    unsold = list(Listing.objects.filter(~sold, store__owner=user).values_list("pk", flat=True))
    Quote.objects.filter(listing__in=unsold).delete()
    Package.objects.filter(deliverable__listing__in=unsold).delete()
    Listing.objects.filter(pk__in=unsold).update(live_deliverable=None, candidate_deliverable=None)
    # The daily `sweep_objects --delete` deletes their files.
    Listing.objects.filter(pk__in=unsold).delete()
    Discount.objects.filter(listing__store__owner=user).delete()
    StorePicture.objects.filter(store__owner=user).delete()
    Upload.objects.filter(listing__store__owner=user).delete()
    # Manifests contain the store's name, and are generated again on request.
    AgentManifest.objects.filter(listing__store__owner=user).delete()
    Store.objects.filter(owner=user).update(name="Closed store", slug=f"closed-{user.pk.hex}", is_open=False)


def add_effects(event: AccountEnding) -> None:
    """Add the effects of ending an account, and what prevents it, for the staff's confirmation page."""
    user, now = event.user_id, timezone.now()
    unrevoked = Q(revoked_at__isnull=True)
    keys = ApiKey.objects.filter(unrevoked, Q(expires_at__isnull=True) | Q(expires_at__gt=now), app__user=user)
    tokens = AccessToken.objects.filter(unrevoked, Q(user=user) | Q(application__user=user), expires__gt=now)
    event.effects.extend(
        (f"Active keys that will stop working: {keys.count()}.", f"Active tokens that will stop working: {tokens.count()}.")
    )
    if event.deleted:
        licences = Licence.objects.filter(buyer=user, revoked_at__isnull=True)
        event.effects.append(f"Licences that can no longer be used to download: {licences.count()}.")
        event.effects.extend(f"This is not possible at the moment. {blocker.message}" for blocker in deletion_blockers(user))
    else:
        on_sale = Listing.objects.filter(store__owner=user, status=ListingStatus.PUBLISHED)
        event.effects.append(f"Listings that stay on sale: {on_sale.count()}.")
