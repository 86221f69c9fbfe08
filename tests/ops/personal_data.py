"""The personal data in every table: what an export shows of it, and what a deletion of the account leaves.

`HOLDINGS` and `IMPERSONAL` name every model of every installed app. A holding names every text and JSON column of its model.
A model has several holdings where its rows have several fates, such as a listing that was sold and one that was not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db.models import BinaryField, CharField, Field, FileField, GenericIPAddressField, JSONField, Model, TextField

SECRET = "a secret, its hash, or what it is encrypted in"
TECHNICAL = "a number, a hash or a name that the service gave"
DERIVED = "follows from what is exported"
OTHERS = "belongs to another person"
CODE = "one of the service's own codes, or always empty"
STAFF = "a note of the staff in the service's own records"
BOOKS = "orders and the ledger prove what was paid"
INVOICED = "the law demands that invoices are kept for years with whom they name, such as six in India and ten in Germany"
LOG = "the audit log proves who decided what; its rows never change"
BOUGHT = "buyers go on downloading what they bought"
SHARED = "orders and connections of others name the app"
FIGURES = "counts calls by the number of an account that names nobody; deleted after 13 months"


@dataclass(frozen=True)
class Holding:
    """What rows of one kind hold of a person.

    Args:
        name: The label of the model, and which rows of it, where there are several kinds.
        exported: By section of the export, the columns that are in it; `column:key` where its key differs from the column.
        hidden: By the reason why they are not exported, columns that hold something of a person.
        impersonal: By the reason, columns that hold nothing of a person.
        kept: Why the row stays after a deletion; empty when it is erased.
        anonymised: Columns that are emptied or replaced in a row that stays.
    """

    name: str
    exported: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    impersonal: Mapping[str, str] = field(default_factory=dict)
    kept: str = ""
    anonymised: str = ""

    @property
    def model(self) -> type[Model]:
        """The model of the rows."""
        return apps.get_model(self.name.split(" ")[0])

    @property
    def places(self) -> dict[str, str]:
        """By exported column, where the export has it: section and key."""
        pairs = [(section, *word.split(":")) for section, words in self.exported.items() for word in words.split()]
        return {column: f"{section}.{(*key, column)[0]}" for section, column, *key in pairs}

    @property
    def personal(self) -> list[str]:
        """The columns that can hold something of a person."""
        return [*self.places, *_split(self.hidden)]

    @property
    def declared(self) -> set[str]:
        """Every column that is named."""
        return {*self.personal, *_split(self.impersonal)}

    @property
    def remaining(self) -> set[str]:
        """The columns whose text is still there after a deletion."""
        return {*self.personal} - {*self.anonymised.split()} if self.kept else set()


def _split(words: Mapping[str, str]) -> Iterator[str]:
    for columns in words.values():
        yield from columns.split()


def is_text(column: Field[Any, Any]) -> bool:
    """Tell whether a column can hold any text: one with choices cannot."""
    kinds = CharField | TextField | JSONField | BinaryField | FileField | GenericIPAddressField
    return isinstance(column, kinds) and not column.choices


def faults_of(holdings: tuple[Holding, ...], impersonal: Mapping[str, str]) -> list[str]:
    """Return what the declarations lack, and what they name in vain."""
    elsewhere = set(_split(impersonal))
    models = {model._meta.label: model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy}
    held = {holding.model._meta.label for holding in holdings}
    faults = [f"{label} is not declared" for label in sorted(models.keys() - held - elsewhere)]
    faults += [f"{label} is declared twice, or is no model" for label in sorted(held & elsewhere | elsewhere - models.keys())]
    for holding in holdings:
        columns = {column.name for column in holding.model._meta.local_fields if is_text(column)}
        faults += [f"{holding.name}.{name} is not declared" for name in sorted(columns - holding.declared)]
        faults += [f"{holding.name}.{name} is no text column" for name in sorted(holding.declared - columns)]
        faults += [f"{holding.name}.{name} is not personal" for name in {*holding.anonymised.split()} - {*holding.personal}]
    return faults


ACCOUNTS = (
    Holding(
        "accounts.User",
        exported={"account": "email name"},
        hidden={SECRET: "password"},
        kept="others' rows point to it: it is nobody's from now on",
        anonymised="email name password",
    ),
    Holding("accounts.User_groups"),
    Holding("accounts.User_user_permissions"),
    Holding("account.EmailAddress", exported={"addresses": "email"}),
    Holding("accounts.MailOptOut"),
    Holding("account.EmailConfirmation", hidden={SECRET: "key"}),
    Holding("mfa.Authenticator", hidden={SECRET: "data"}),
    Holding(
        "sessions.Session",
        hidden={SECRET: "session_key session_data"},
        kept="no request is answered under it any more, and it expires",
    ),
    Holding(
        "admin.LogEntry",
        hidden={STAFF: "object_id object_repr change_message"},
        kept="what a former member of staff changed in the service's own tables",
    ),
    Holding(
        "core.AuditEntry of the person",
        exported={"actions": "action subject_type subject_id reason"},
        hidden={TECHNICAL: "from_state to_state request_id", "details, such as an address before and after a change": "data"},
        kept=LOG,
    ),
    Holding(
        "core.AuditEntry about the person",
        hidden={STAFF: "action reason from_state to_state data request_id"},
        impersonal={TECHNICAL: "subject_type subject_id"},
        kept=LOG,
    ),
    Holding("review.Appeal", exported={"appeals": "text answer"}),
    Holding("operations.AccountExport", hidden={SECRET: "encrypted"}),
    Holding(
        "django_tasks_database.DBTaskResult",
        hidden={"a mail, encrypted until it is sent, or numbers of rows": "args_kwargs return_value traceback"},
        impersonal={TECHNICAL: "exception_class_path task_path worker_ids queue_name backend_name"},
        kept="mails on their way are sent; finished jobs are deleted after two days, failed ones after 60",
    ),
)

DEVELOPERS = (
    Holding("developers.DeveloperApplication", exported={"applications": "company website what why decision_reason"}),
    Holding("developers.ApplicationMessage of the person", exported={"messages": "text"}),
    Holding("developers.ApplicationMessage of a reviewer", exported={"messages": "text"}),
    Holding(
        "developers.ApplicationMessage to another applicant",
        exported={"messages": "text"},
        kept="part of another person's application",
    ),
    Holding(
        "developers.App",
        exported={"apps": "name purpose status_reason granted_scopes redirect_uris"},
        hidden={SECRET: "client_secret", TECHNICAL: "client_id"},
        impersonal={CODE: "post_logout_redirect_uris allowed_origins"},
        kept=SHARED,
        anonymised="purpose status_reason redirect_uris",
    ),
    Holding(
        "developers.App of another developer",
        exported={"connections": "name:app__name"},
        impersonal={
            OTHERS: "client_id client_secret redirect_uris post_logout_redirect_uris allowed_origins granted_scopes purpose status_reason"
        },
        kept=OTHERS,
    ),
    Holding("developers.AppLogo", hidden={TECHNICAL: "digest"}, impersonal={"the logo of an app, which its users see": "image"}),
    Holding(
        "developers.MetadataReview",
        exported={"redirectUriRequests": "latest"},
        hidden={DERIVED: "reviewed"},
        impersonal={"empty for an app of a developer": "host"},
    ),
    Holding("developers.AppOrigin", hidden={DERIVED: "origin"}),
    Holding("developers.AppScope", exported={"scopes": "reason note"}, kept=SHARED, anonymised="reason note"),
    Holding("developers.ScopeReview", exported={"scopeReviews": "outcome note"}),
    Holding("developers.Consent", exported={"connections": "scope"}),
    Holding("developers.ApiKey", exported={"apiKeys": "name last_four scope"}, hidden={SECRET: "digest"}),
    Holding("developers.DormancyNotice"),
    Holding(
        "developers.AccessToken",
        exported={"tokens": "name hint scope"},
        hidden={SECRET: "token_checksum", TECHNICAL: "resource"},
        impersonal={CODE: "token"},
    ),
    Holding(
        "developers.AccessToken of another person",
        hidden={OTHERS: "name hint scope token_checksum resource"},
        impersonal={CODE: "token"},
    ),
    *(
        Holding(
            f"developers.RefreshToken {whose}",
            hidden={SECRET: "token_checksum encrypted_successor", DERIVED: "scope", TECHNICAL: "resource"},
            impersonal={CODE: "token"},
        )
        for whose in ("of the person", "of another person")
    ),
    *(
        Holding(
            f"developers.Grant {whose}",
            hidden={SECRET: "code code_challenge nonce", DERIVED: "redirect_uri scope", TECHNICAL: "claims resource"},
        )
        for whose in ("of the person", "of another person")
    ),
    Holding("developers.FirstPartyToken", hidden={SECRET: "session_hash digest", TECHNICAL: "scope"}),
    Holding("developers.ApiUsage of an app", exported={"usage": "operation"}, impersonal={CODE: "scope"}, kept=FIGURES),
    Holding("developers.ApiUsage of a personal token", exported={"usage": "operation"}, impersonal={CODE: "scope"}, kept=FIGURES),
    Holding(
        "developers.HourlyUsage", hidden={"the same calls as by day": "operation"}, impersonal={CODE: "kind"}, kept="deleted after two days"
    ),
    Holding("developers.SpendingLimit", exported={"spendingLimits": "categories"}),
    Holding("developers.SpendingLimit of an app, set by staff", hidden={STAFF: "categories"}, kept=SHARED),
    Holding(
        "developers.WebhookEndpoint",
        exported={"webhooks": "url description disabled_reason"},
        hidden={SECRET: "encrypted_secret encrypted_old_secret"},
    ),
    Holding("developers.WebhookSubscription", impersonal={CODE: "event"}),
    *(
        Holding(f"developers.WebhookEvent {whose}", exported={"webhookMessages": "type subject data"})
        for whose in ("to the person", "to an app")
    ),
    Holding(
        "developers.WebhookEvent to everyone",
        impersonal={"tells of what is public": "type subject data"},
        kept="tells of what is public",
    ),
    Holding("developers.WebhookDelivery"),
    Holding("developers.WebhookAttempt", hidden={"what the developer's own server answered": "error response"}),
)

_FILE = "object_key sha256 format technical entries fingerprint"
_LISTING = "title slug short_description description readme tags version file_type supported_platforms video_url ai_parts"
SELLING = (
    Holding("catalog.Store", exported={"store": "name slug"}, kept=BOUGHT, anonymised="name slug"),
    Holding("catalog.StorePicture", hidden={TECHNICAL: "object_key content_type sha256 details renditions"}),
    Holding(
        "vendors.VendorProfile",
        exported={"vendorProfile": "bio application_data"},
        kept="sales and payouts belong to it",
        anonymised="bio application_data",
    ),
    Holding(
        "vendors.PayoutDetails",
        exported={"payoutDetails": "label"},
        hidden={SECRET: "encrypted"},
        impersonal={CODE: "currency"},
        kept="payouts were made to it",
        anonymised="encrypted label",
    ),
    Holding("vendors.Upload", exported={"uploads": "filename"}, impersonal={TECHNICAL: "parts"}),
    *(
        holding
        for which, kept in (("sold", BOUGHT), ("never sold", ""))
        for holding in (
            Holding(
                f"catalog.Listing {which}",
                exported={"listings": _LISTING},
                impersonal={CODE: "currency allowed_license_slugs"},
                kept=kept,
            ),
            Holding(f"catalog.Deliverable {which}", exported={"files": "original_filename version"}, hidden={TECHNICAL: _FILE}, kept=kept),
            Holding(
                f"catalog.Preview {which}",
                exported={"previews": "alt_text"},
                hidden={TECHNICAL: "object_key content_type sha256 details renditions"},
                kept=kept,
            ),
            Holding(
                f"catalog.ListingReview {which}",
                exported={"listingReviews": "findings note"},
                hidden={DERIVED: "checks snapshot"},
                kept=kept and "proves what staff decided about a listing that was sold",
            ),
            Holding(f"catalog.Discount {which}", exported={"discounts": "code"}),
            Holding(
                f"catalog.FileFacts {which}", hidden={DERIVED: "sha256 facts"}, kept=kept and "what is bought is compared with its updates"
            ),
            Holding(
                f"catalog.FilePreview {which}",
                hidden={DERIVED: "object_key content_type sha256 details renditions"},
                kept=kept,
            ),
            Holding(
                f"catalog.FormerPreview {which}",
                hidden={TECHNICAL: "object_key content_type sha256"},
                kept=kept and "proves what staff decided about a listing that was sold",
            ),
            Holding(f"catalog.AgentManifest {which}", hidden={DERIVED: "body source_digest"}),
            Holding(
                f"library.Package {which}",
                hidden={DERIVED: "readme_text license_text", TECHNICAL: "recipe sha256 object_key"},
                kept=kept and "the texts that buyers received; they prove what was delivered",
            ),
        )
    ),
    Holding("wallet.PayoutBatch", impersonal={TECHNICAL: "run", CODE: "transfer_currency"}, kept=BOOKS),
    Holding("wallet.VendorPayout", exported={"payouts": "reason"}, kept=BOOKS),
)

BUYING = (
    Holding("wallet.WalletSettings"),
    Holding("wallet.LedgerAccount", impersonal={CODE: "currency"}, kept=BOOKS),
    Holding("wallet.Journal", hidden={STAFF: "reason", TECHNICAL: "request_id"}, kept=BOOKS),
    Holding("wallet.CreditReference", exported={"creditReferences": "source reference"}, kept=BOOKS),
    Holding(
        "wallet.WalletPayout paid",
        exported={"walletPayouts": "payment_details reference"},
        impersonal={"empty by a constraint": "reason"},
        kept=BOOKS,
        anonymised="payment_details",
    ),
    Holding(
        "wallet.WalletPayout refused",
        exported={"walletPayouts": "reason"},
        impersonal={"empty by a constraint": "payment_details reference"},
        kept=BOOKS,
    ),
    Holding(
        "wallet.TopUp",
        exported={"topUps": "provider page_reference payment_reference return_url"},
        hidden={TECHNICAL: "payment_url credential_kind"},
        kept=BOOKS,
        anonymised="return_url payment_url",
    ),
    Holding("wallet.CardReversal", exported={"topUpReversals": "reference"}, kept=BOOKS),
    Holding(
        "wallet.ProviderEvent",
        hidden={DERIVED: "payment_reference reversal_reference", TECHNICAL: "provider event_id outcome"},
        impersonal={CODE: "currency"},
        kept=BOOKS,
    ),
    Holding("wallet.ReversalPart", kept=BOOKS),
    Holding(
        "wallet.Quote",
        exported={"quotes": "license_slug discount_code upgrade_from licensee_name licensee_email"},
        impersonal={CODE: "currency"},
    ),
    Holding(
        "wallet.Quote of an order",
        exported={"quotes": "license_slug discount_code upgrade_from licensee_name licensee_email"},
        impersonal={CODE: "currency"},
        kept=BOOKS,
        anonymised="licensee_name licensee_email",
    ),
    Holding(
        "wallet.Quote of another person",
        hidden={OTHERS: "license_slug discount_code upgrade_from licensee_name licensee_email"},
        impersonal={CODE: "currency"},
    ),
    Holding(
        "wallet.Approval",
        exported={"approvals": "spender_name reason exceeded_limit"},
        hidden={TECHNICAL: "idempotency_key fingerprint"},
    ),
    Holding("core.IdempotencyRecord", hidden={"a copy of a response, for 24 hours": "response", TECHNICAL: "key fingerprint"}),
    Holding(
        "wallet.Order",
        exported={"orders": "title store_name license_slug license_name version consent_text discount_code"},
        hidden={TECHNICAL: "credential_kind request_id consent_version"},
        kept=BOOKS,
    ),
    Holding(
        "wallet.RefundRequest",
        exported={"refundRequests": "details answer objection decision"},
        kept="proves why a purchase was refunded, or was not",
        anonymised="details objection",
    ),
    *(
        Holding(
            f"wallet.BillingDetails {which}",
            exported={"billingDetails": "name street postal_code city region tax_id"},
            impersonal={CODE: "country connection_country"},
            kept=kept,
        )
        for which, kept in (("of a sale", INVOICED), ("of no sale", ""))
    ),
    *(
        Holding(f"wallet.Logo of {which} sale", impersonal={"the logo of a business, which its documents show": "image"}, kept=kept)
        for which, kept in (("a", INVOICED), ("no", ""))
    ),
    Holding(
        "wallet.Invoice",
        exported={"invoices": "number buyer_name description region"},
        impersonal={CODE: "service_code country tax_currency"},
        kept=INVOICED,
    ),
    Holding("library.Favourite"),
    Holding(
        "library.Licence",
        exported={"licences": "title store_name version revoke_reason licensee_name licensee_email"},
        hidden={TECHNICAL: "claim_digest"},
        kept=BOOKS,
        anonymised="licensee_name licensee_email claim_digest",
    ),
    Holding(
        "library.Licence for another person",
        exported={"licencesForOthers": "licensee_name licensee_email"},
        hidden={OTHERS: "title store_name version revoke_reason", TECHNICAL: "claim_digest"},
        kept=BOOKS,
    ),
    Holding(
        "library.DownloadLink",
        exported={"downloads": "file_name version"},
        hidden={TECHNICAL: "credential_kind request_id"},
        kept="proves what was delivered",
    ),
    Holding("library.Download", hidden={TECHNICAL: "byte_range request_id"}, kept="proves what was delivered"),
)

HOLDINGS = (*ACCOUNTS, *DEVELOPERS, *SELLING, *BUYING)

IMPERSONAL = {
    "the service's own configuration": (
        "auth.Permission auth.Group auth.Group_permissions contenttypes.ContentType review.SavedReply catalog.Category"
        " catalog.FeaturedListing operations.Installation operations.SitePage"
        " catalog.LicenseTier catalog.LicenseTerms catalog.RejectionReason catalog.SearchSynonym wallet.Seller wallet.TaxRate wallet.ExchangeRate"
    ),
    "the service's own work": "jobs.Worker jobs.Schedule catalog.CatalogVersion developers.EventCounter wallet.LedgerDigest wallet.CoveredJournal",
    "counts and numbers": "catalog.ListingStats catalog.PurchaseCountChange wallet.Transfer library.UpdateAnnouncement library.StatusListPosition",
    "made from listings on sale, of which a deleted account has none": (
        "catalog.SearchDocument catalog.SearchTerm catalog.ListingIndex catalog.ListingLabel catalog.ListingPrice catalog.ListingCount"
    ),
    "never written: OpenID Connect and the device flow are off": "developers.IDToken oauth2_provider.DeviceGrant",
}

# The keys of each section that are no text of a person's own: numbers, moments, states.
OTHER_KEYS = {
    "account": "id tier is_active date_joined last_login",
    "addresses": "verified primary",
    "mailsSwitchedOff": "topic",
    "applications": "status created_at decided_at",
    "apps": "id status created",
    "scopes": "app_id scope granted requested_at decided_at",
    "redirectUriRequests": "app_id status read_at",
    "scopeReviews": "app_id status requested_at decided_at",
    "apiKeys": "id created_at expires_at last_used_at revoked_at",
    "tokens": "id kind created expires last_used_at revoked_at",
    "connections": "given_at renewed_at withdrawn_at",
    "authenticators": "type created_at last_used_at",
    "webhooks": "id created_at disabled_at",
    "spendingLimits": "currency per_purchase_minor per_day_minor total_minor created_at",
    "store": "is_open",
    "storePictures": "kind size uploaded_at",
    "vendorProfile": "status commission_rate_bp payouts_held_at applied_at",
    "payoutDetails": "currency created_at withdrawn_at",
    "listings": "id status ai_training ai_origin published_at",
    "files": "listing_id file_size uploaded_at",
    "uploads": "listing_id size offset expires_at",
    "discounts": "listing_id percent starts_at ends_at created_at",
    "previews": "listing_id kind size uploaded_at",
    "listingReviews": "listing_id kind status submitted_at decided_at",
    "payouts": "batch__run account__currency journal__vendor_net_minor status journal__at settled_at",
    "walletSettings": "currency_preference",
    "walletEntries": "kind at wallet__currency wallet_net_minor wallet_balance_minor order_id",
    "quotes": "listing_id currency price_minor created_at expires_at",
    "approvals": "quote_id status created_at expires_at decided_at order_id",
    "orders": "id currency price_minor tax_minor status created_at refunded_at",
    "refundRequests": "order_id status reason asked_at answered_at ended_at",
    "billingDetails": "country connection_country current created_at",
    "invoices": "kind date treatment country currency gross_minor tax_minor",
    "walletPayouts": "id wallet__currency hold__wallet_net_minor status requested_at closing_journal__at",
    "topUps": "id currency amount_minor status created_at paid_at",
    "topUpReversals": "top_up_id kind amount_minor status opened_at decided_at",
    "creditReferences": "journal__wallet_net_minor journal__at",
    "licences": "id order_id acquired_at revoked_at claimed_at",
    "licencesForOthers": "order_id claim_sent_at claimed_at",
    "favourites": "listing_id added_at",
    "downloads": "issued_at expires_at",
    "appeals": "decision__at status submitted_at decided_at",
    "actions": "at",
    "messages": "at is_yours",
    "webhookMessages": "created_at",
    "usage": "day app_id kind scope status calls",
    "balances": "kind currency balance_minor",
}
