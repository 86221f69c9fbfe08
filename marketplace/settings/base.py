"""Settings that `embedded`, `production` and `test` share."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured

from . import environment as read
from .accounts import *  # noqa: F403 - a part of these settings
from .concurrency import *  # noqa: F403 - likewise
from .credentials import *  # noqa: F403 - likewise
from .monitoring import *  # noqa: F403 - likewise
from .monitoring import logging_config
from .payments import *  # noqa: F403 - likewise
from .sandbox import *  # noqa: F403 - likewise
from .sandbox import SANDBOX
from .schedule import *  # noqa: F403 - likewise

BASE_DIR = read.BASE_DIR

# --- addresses --------------------------------------------------------------------------------
BASE_URL = read.http_url("BASE_URL", "http://127.0.0.1:8000")
if "{}://{}".format(*urlsplit(BASE_URL)) != BASE_URL:
    raise ImproperlyConfigured(f"BASE_URL is {BASE_URL!r}; set it to an address without a path, such as https://shop.example.")
# A relative folder is the same for a command, a server and the commands that a worker starts, wherever each was started.
DATA_DIR = BASE_DIR / read.text("DATA_DIR", "var")
ALLOWED_HOSTS = read.comma_separated("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = read.comma_separated("CSRF_TRUSTED_ORIGINS")
# Our own proxies, whose X-Forwarded-For is trusted; empty if clients connect directly. They must drop header names with
# underscores: WSGI has one name for X-Forwarded-For and X_Forwarded_For, and a client could write the second.
TRUSTED_PROXIES = read.networks("TRUSTED_PROXIES")
# The header in which a trusted proxy names the client's country, in place of one that the client sent; empty if there is none.
CLIENT_COUNTRY_HEADER = read.text("CLIENT_COUNTRY_HEADER")

# Requests to addresses given by users (marketplace.http.outbound) go to public networks only, and to none of these.
OUTBOUND_REFUSED_NETWORKS = read.networks("OUTBOUND_REFUSED_NETWORKS")
OUTBOUND_LOOPBACK = False

ROOT_URLCONF = "marketplace.urls"
WSGI_APPLICATION = "marketplace.wsgi.application"
# Whether a server checks at start that its database is a sandbox's if and only if `SANDBOX` is on.
CHECK_DATABASE_AT_START = True
APPEND_SLASH = False

INSTALLED_APPS = [
    "marketplace.core",
    "marketplace.monitoring",
    "marketplace.ui",
    "marketplace.review.apps.ReviewConfig",
    "marketplace.jobs",
    "marketplace.accounts",
    "developers",
    "catalog",
    "vendors",
    "library",
    "wallet",
    "marketplace.web",
    "marketplace.operations",
    "marketplace.demo",
    "marketplace.review.apps.MarketplaceAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "oauth2_provider",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "corsheaders",
    "storages",
    "django_tasks",
    "django_tasks_db",
]

# In the order that `marketplace.http` explains.
MIDDLEWARE = [
    "marketplace.http.monitoring.HealthMiddleware",
    "marketplace.http.monitoring.RequestIdMiddleware",
    "marketplace.api.versions.ApiVersionMiddleware",
    "marketplace.http.monitoring.MonitoringMiddleware",
    "marketplace.http.rate_limits.RateLimitFieldsMiddleware",
    "developers.usage.middleware.UsageMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "marketplace.http.static_files.StaticFilesMiddleware",
    "catalog.api.public.OpenCorsMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "marketplace.http.pages.ContentPolicyMiddleware",
    "marketplace.http.refusals.RequestSizeMiddleware",
    "marketplace.http.pages.CompressionMiddleware",
    "marketplace.http.pages.PageCachingMiddleware",
    # After middleware that only adds headers and static files, before all costly work.
    "marketplace.http.overload.OverloadMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "marketplace.http.refusals.WrongMethodMiddleware",
    "marketplace.http.refusals.ProblemMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- data -------------------------------------------------------------------------------------
# For web processes on PostgreSQL (`marketplace.core.database`); 0 for no limit.
STATEMENT_TIMEOUT_SECONDS = read.integer("DATABASE_STATEMENT_TIMEOUT", default=15)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False

S3 = read.s3()
MEDIA_ROOT = DATA_DIR / "media"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "marketplace.storage.local.LocalStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if S3:
    STORAGES["default"] = read.s3_storage(S3)
# The store's address for buyers' browsers, if it differs from S3_ENDPOINT_URL.
S3_PUBLIC_ENDPOINT_URL = (S3 or {}).get("S3_PUBLIC_ENDPOINT_URL", "")

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]
STATIC_ROOT: Path | None = BASE_DIR / read.text("STATIC_ROOT", str(DATA_DIR / "static"))

# How long a shared cache, such as the proxy, may serve a response of the public catalog without revalidation.
SHARED_CACHE_SECONDS = read.integer("SHARED_CACHE_SECONDS", default=5)

# What a vendor may keep that no reviewer has approved; a file has up to 5 GiB.
VENDOR_UNAPPROVED_GIB = read.integer("VENDOR_UNAPPROVED_GIB", default=20, minimum=5)

# --- sessions ---------------------------------------------------------------------------------
SESSION_ENGINE = "marketplace.accounts.sessions"

# --- API --------------------------------------------------------------------------------------
# Django's limits for forms; `core.bounds` has lower ones and that of JSON, `catalog.bounds` and `vendors.bounds` those of uploads.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2**20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 2

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["developers.authentication.CredentialAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["developers.permissions.HasAccess"],
    "DEFAULT_THROTTLE_CLASSES": ["developers.throttling.RateLimitThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["marketplace.api.rendering.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["marketplace.api.rendering.OrjsonParser"],
    "DEFAULT_SCHEMA_CLASS": "marketplace.api.openapi.OperationSchema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "marketplace.api.rendering.JsonOnly",
    "EXCEPTION_HANDLER": "marketplace.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Creative Asset Marketplace API",
    "VERSION": "1",
    "DESCRIPTION": "Browse, license, buy and publish creative assets. Operations with a JSON response succeed with 200, "
    "or 202 while a purchase waits for approval. Downloads, conditional requests and tus uploads use their own statuses. Errors are RFC 9457 problem documents. "
    "Unknown fields and query parameters are refused; an empty optional query parameter counts as left out. null is refused (error code `null`) "
    "where a field's type does not list it; where it does, null clears the field.",
    "CONTACT": {"name": "Developer support", "url": f"{BASE_URL}/docs"},
    "TAGS": [
        {"name": "catalog", "description": "Browse, search and view assets on sale. Public, except for the AI manifest."},
        {"name": "library", "description": "Assets that the caller owns, and links to download them."},
        {"name": "downloads", "description": "The target of download links. Needs no credential."},
        {"name": "certificates", "description": "Signed proofs of a licence that anyone can verify."},
        {"name": "wallet", "description": "The prepaid wallet: balances, quotes, purchases, transactions."},
        {"name": "approvals", "description": "Purchases above a spending limit that wait for the wallet's owner."},
        {"name": "account", "description": "The caller, its limits, and the billing details that invoices are made out to."},
        {"name": "orders", "description": "Purchases and their receipts."},
        {"name": "vendor", "description": "For vendors: profile, listings, files, reviews, earnings."},
        {"name": "events", "description": "What happened, as webhooks send it."},
        {"name": "webhooks", "description": "The addresses that an app's events are sent to, and the requests that they get."},
        {"name": "appeals", "description": "Appeals against rejections, takedowns, suspensions and withdrawn approvals."},
        {"name": "leaked-credentials", "description": "Reports of keys and tokens found in public."},
    ],
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVERS": [{"url": BASE_URL}],
    "WEBHOOKS": "developers.api.webhooks.WEBHOOKS",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "marketplace.api.openapi.add_components",
        "marketplace.api.headers.document_headers",
        "catalog.api.descriptions.describe",
        "developers.api.descriptions.describe",
        "vendors.api.descriptions.describe",
        "library.api.descriptions.describe",
        "wallet.api.descriptions.describe",
        "marketplace.api.descriptions.describe",
        "developers.api.webhooks.add_headers",
    ],
    # A PATCH of details has required fields: request bodies are documented as they are validated.
    "COMPONENT_SPLIT_PATCH": False,
    # Choice sets that several fields share, or whose field names are ambiguous.
    "ENUM_NAME_OVERRIDES": {
        "DeliveryStatusEnum": "developers.models.webhooks.DeliveryStatus",
        "AiOriginEnum": "catalog.models.listings.AiOrigin",
        "AiTrainingEnum": "catalog.models.listings.AiTraining",
        "AppealKindEnum": "marketplace.review.models.AppealKind",
        "AppealStatusEnum": "marketplace.review.models.AppealStatus",
        "CredentialKindEnum": "marketplace.core.access.CredentialKind",
        "CertificateStatusEnum": "library.certificates.CertificateStatus",
        "DiscountStatusEnum": "catalog.models.discounts.DiscountStatus",
        "LicenseUseEnum": "catalog.uses.Use",
        "LicensePermissionEnum": "catalog.uses.UsePermission",
        "LicenseVerdictEnum": "catalog.uses.UseVerdict",
        "RightsDecisionEnum": "library.rights.RightsDecision",
        "ListingStatusEnum": "catalog.models.listings.ListingStatus",
        "ApprovalStatusEnum": "wallet.models.approvals.ApprovalStatus",
        "OrderStatusEnum": "wallet.models.orders.OrderStatus",
        "PreviewKindEnum": "catalog.models.files.PreviewKind",
        "ReviewKindEnum": "catalog.models.reviews.ReviewKind",
        "TopUpStatusEnum": "wallet.models.top_ups.TopUpStatus",
        "RefundRequestStatusEnum": "wallet.models.refund_requests.RefundRequestStatus",
        "RefundReasonEnum": "wallet.models.refund_requests.RefundReason",
        "ReversalStatusEnum": "wallet.models.top_ups.ReversalStatus",
        "ReversalKindEnum": "wallet.models.top_ups.ReversalKind",
        "InvoiceKindEnum": "wallet.models.invoices.InvoiceKind",
        "JournalKindEnum": "wallet.models.ledger.JournalKind",
        "ReviewStatusEnum": "catalog.models.reviews.ReviewStatus",
        "VendorStatusEnum": "vendors.models.VendorStatus",
        "WebhookStatusEnum": "developers.models.webhooks.WebhookStatus",
        "WalletCurrencyEnum": "wallet.models.quotes.CURRENCIES",
    },
    "SERVE_AUTHENTICATION": [],
}
CORS_URLS_REGEX = r"^/(api/|mcp$)"
CORS_ALLOWED_ORIGINS = read.comma_separated("CORS_ALLOWED_ORIGINS")
# Request headers beyond the library's defaults. Not X-Api-Key: keys must not be used in browsers.
CORS_ALLOW_HEADERS = [
    *default_headers,
    *("idempotency-key", "if-match", "if-none-match", "if-range", "range", "x-request-id"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
    *("tus-resumable", "upload-checksum", "upload-length", "upload-metadata", "upload-offset"),
]
CORS_EXPOSE_HEADERS = [
    "API-Version",
    "Content-Disposition",
    "Content-Range",
    "Content-Usage",
    "ETag",
    "Idempotent-Replayed",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    *("Tus-Checksum-Algorithm", "Tus-Extension", "Tus-Max-Size", "Tus-Resumable", "Tus-Version"),
    *("Upload-Expires", "Upload-Length", "Upload-Offset"),
    "WWW-Authenticate",
    "X-Request-Id",
]

# --- background work --------------------------------------------------------------------------
TASKS = {
    "default": {
        "BACKEND": "django_tasks_db.DatabaseBackend",
        "QUEUES": ["default", "webhooks", "previews", "schedule"],
        "OPTIONS": {"id_function": "marketplace.core.ids.new_id"},
    }
}
# Whether the server process also runs a worker, in a thread.
WORKER_IN_SERVER = read.boolean("WORKER_IN_SERVER", default=False)
DEFAULT_FROM_EMAIL = read.text("DEFAULT_FROM_EMAIL", "marketplace@localhost")
# Mails are enqueued; the worker sends them through the transport.
EMAIL_BACKEND = "marketplace.jobs.mailing.QueuedBackend"
MAIL_TRANSPORT = "marketplace.jobs.mailing.ConsoleBackend"
if SANDBOX:
    # Mails are kept as files.
    MAIL_TRANSPORT = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = DATA_DIR / "mails"

# --- payouts -----------------------------------------------------------------------------------
# Vendors' payouts: the day of the month that their pages name, the smallest amount in whole units of each currency, and the account
# that SEPA transfers are made from.
PAYOUT_DAY = read.integer("PAYOUT_DAY", default=5, minimum=1, maximum=31)
PAYOUT_MINIMUM = read.integer("PAYOUT_MINIMUM", default=1, minimum=1)
PAYOUT_NAME, PAYOUT_IBAN, PAYOUT_BIC = read.text("PAYOUT_NAME"), read.text("PAYOUT_IBAN"), read.text("PAYOUT_BIC")

# --- refunds -----------------------------------------------------------------------------------
# Days in which a purchase that was not downloaded is refunded on request, and in which a vendor answers other requests.
REFUND_WINDOW_DAYS = read.integer("REFUND_WINDOW_DAYS", default=14, maximum=36_500)
REFUND_ANSWER_DAYS = read.integer("REFUND_ANSWER_DAYS", default=7, minimum=1, maximum=36_500)

# --- admin ------------------------------------------------------------------------------------
# Functions that return the context of the admin's home page, and its menu.
ADMIN_HOME = "marketplace.web.admin.home.home"
ADMIN_MENU = "marketplace.web.admin.menu.menu"
# A reviewer's claim expires after this time.
REVIEW_CLAIM_MINUTES = read.integer("REVIEW_CLAIM_MINUTES", default=30, minimum=1)
# Whether staff need a second factor to enter.
ADMIN_REQUIRES_SECOND_FACTOR = read.boolean("ADMIN_REQUIRES_SECOND_FACTOR", default=True)
# Whether uploaded files may be inspected by processes that run as root; not by default in production.
INSPECT_AS_ROOT = read.boolean("INSPECT_AS_ROOT", default=True)

# --- monitoring -------------------------------------------------------------------------------
# A log line takes a twentieth of the time of a cached response, so it is enabled in production only, by default.
ACCESS_LOG = read.boolean("ACCESS_LOG", default=False)
LOGGING = logging_config("text")
