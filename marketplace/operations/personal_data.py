"""A user's personal data, exported on request; `deletion` erases it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, Q, QuerySet

from catalog.models import Deliverable, Discount, Listing, ListingReview, Preview, Store, StorePicture
from developers.models import (
    AccessToken,
    ApiKey,
    ApiUsage,
    App,
    AppScope,
    Consent,
    DeveloperApplication,
    MetadataReview,
    ScopeReview,
    SpendingLimit,
)
from developers.models.applications import ApplicationMessage
from developers.models.webhooks import WebhookEndpoint, WebhookEvent
from library.models import DownloadLink, Favourite, Licence
from marketplace.accounts.models import MailOptOut, User
from marketplace.core.models import AuditEntry
from marketplace.review.models import Appeal
from vendors.models import PayoutDetails, Upload, VendorProfile
from wallet.licensees import licences_for_others
from wallet.models import (
    Approval,
    BillingDetails,
    CardReversal,
    CreditReference,
    Invoice,
    Journal,
    LedgerAccount,
    Order,
    Quote,
    RefundRequest,
    TopUp,
    VendorPayout,
    WalletPayout,
    WalletSettings,
)
from wallet.selectors import with_earnings

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
    "redirectUriRequests": (MetadataReview, "app__user", ("app_id", "status", "latest", "read_at")),
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
            *("listing_id", "license_slug", "currency", "price_minor", "discount_code", "upgrade_from"),
            *("licensee_name", "licensee_email", "created_at", "expires_at"),
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
        ("name", "street", "postal_code", "city", "region", "country", "tax_id", "connection_country", "current", "created_at"),
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
            *("requested_at", "closing_journal__at"),
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
        CardReversal,
        "top_up__user",
        ("top_up_id", "kind", "reference", "amount_minor", "status", "opened_at", "decided_at"),
    ),
    "creditReferences": (CreditReference, "journal__wallet__owner", ("source", "reference", "journal__wallet_net_minor", "journal__at")),
    "licences": (
        Licence,
        "holder",
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


def export_lines(user: User) -> Iterator[str]:
    """Yield everything about a user as JSON, row by row: some have a million."""
    before = "{"
    for name, value in export_account(user).items():
        yield f"{before}\n{_json(name)}: "
        if isinstance(value, QuerySet):
            yield "["
            for place, row in enumerate(value.iterator(chunk_size=500)):
                yield f"{',' if place else ''}\n{_json(row)}"
            yield "]"
        else:
            yield _json(value)
        before = ","
    yield "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def export_account(user: User) -> dict[str, Any]:
    """Return everything about a user: rows by table, secrets left out."""
    account = {name: getattr(user, name) for name in ("id", "email", "name", "tier", "is_active", "date_joined", "last_login")}
    sections = {
        name: model._default_manager.filter(**{path: user}).order_by("pk").values(*columns)
        for name, (model, path, columns) in SECTIONS.items()
    }
    # A vendor's balance does not include sales since the last ledger digest.
    accounts = with_earnings(LedgerAccount.objects.filter(owner=user)).order_by("pk")
    balances = [{"kind": row.kind, "currency": row.currency, "balance_minor": row.unpaid_minor} for row in accounts]
    return {"account": account, **sections, **_other_sections(user), "balances": balances}


def _other_sections(user: User) -> dict[str, "QuerySet[Any, Any]"]:
    """Return the sections whose rows more than one column connects to the user."""
    tokens = AccessToken.objects.filter(user=user).values("pk")
    messages = ApplicationMessage.objects.filter(Q(application__user=user) | Q(author=user))
    events = WebhookEvent.objects.filter(Q(owner=user) | Q(app__user=user))
    usage = ApiUsage.objects.filter(Q(app__user=user) | Q(credential_id__in=tokens))
    for_others = licences_for_others(user.pk).order_by("pk")
    return {
        "licencesForOthers": for_others.values("order_id", "licensee_name", "licensee_email", "claim_sent_at", "claimed_at"),
        # Questions are asked by reviewers, who are not named.
        "messages": messages.order_by("pk").values("text", "at", is_yours=Q(author=user)),
        "webhookMessages": events.order_by("pk").values("type", "subject", "data", "created_at"),
        "usage": usage.order_by("pk").values("day", "app_id", "kind", "operation", "scope", "status", "calls"),
    }
