"""The vendor side."""

from dataclasses import replace
from typing import Any

from .appeals import QUEUE
from .catalog import AI_USE, LIMIT, PAGE, PREVIEW, TIER
from .purse import BAD_CODES, CODE
from .shapes import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    SHA256,
    STRING,
    TIME,
    Auth,
    Field,
    Operation,
    Query,
    Shape,
    array,
    nullable,
    one_of,
    record,
)

STATUS = one_of("Draft", "PendingReview", "Published", "Rejected")
PROFILE = {
    "id": STRING,
    "userId": STRING,
    "storeName": STRING,
    "storeSlug": STRING,
    "status": one_of("Approved", "Pending", "Suspended"),
    "commissionRate": NUMBER,
}
PROFILE_ADDED: dict[str, Shape] = {"bio": STRING, "logoUrl": nullable(STRING), "bannerUrl": nullable(STRING)}
STORE_PICTURE = record({}, added={"id": STRING, "kind": one_of("Logo", "Banner"), "url": STRING, "width": INTEGER, "height": INTEGER})
FILE = record(
    {"id": STRING, "assetId": STRING, "originalFilename": STRING, "fileSize": INTEGER, "checksum": SHA256, "technicalJson": STRING}
)
UPLOAD_RECORD = record(
    {},
    added={
        "id": STRING,
        "assetId": STRING,
        "originalFilename": STRING,
        "fileSize": INTEGER,
        "offset": INTEGER,
        "expiresAt": TIME,
        "url": STRING,
        "fileId": nullable(STRING),
    },
)
VERSION_RECORD = record(
    {},
    added={
        "id": STRING,
        "version": STRING,
        "originalFilename": STRING,
        "fileSize": INTEGER,
        "checksum": SHA256,
        "uploadedAt": TIME,
        "approvedAt": nullable(TIME),
        "status": one_of("live", "candidate", "superseded", "blocked"),
    },
)
SUMMARY: dict[str, Shape] = {
    "id": STRING,
    "vendorId": STRING,
    "title": STRING,
    "slug": STRING,
    "shortDescription": STRING,
    "categorySlug": STRING,
    "basePrice": NUMBER,
    "priceInr": nullable(NUMBER),
    "priceEur": nullable(NUMBER),
    "discountPercent": NUMBER,
    "taxRatePercent": NUMBER,
    "currency": STRING,
    "status": STATUS,
    "fileType": STRING,
    "supportedPlatforms": STRING,
    "version": STRING,
    "videoUrl": STRING,
}
SUMMARY_ADDED: dict[str, Shape] = {
    "tags": array(STRING),
    "updateStatus": nullable(one_of("PendingReview")),
    "tierRequirement": TIER,
    "createdAt": TIME,
    "updatedAt": TIME,
    "submittedAt": nullable(TIME),
    "publishedAt": nullable(TIME),
}
LISTING = record(
    SUMMARY | {"description": STRING, "readme": STRING, "allowedLicenseSlugs": nullable(array(STRING))},
    added=SUMMARY_ADDED | AI_USE | {"liveFile": nullable(FILE), "candidateFile": nullable(FILE), "previews": array(PREVIEW)},
)
CHECKS = array(record({}, added={"name": STRING, "passed": BOOLEAN, "detail": STRING, "warning": STRING}))
REVIEW = record(
    {},
    added={
        "id": STRING,
        "kind": one_of("Listing", "Update", "Takedown"),
        "status": one_of("Pending", "Approved", "Rejected", "Withdrawn"),
        "submittedAt": TIME,
        "decidedAt": nullable(TIME),
        "file": nullable(record({}, added={"id": STRING, "originalFilename": STRING, "fileSize": INTEGER, "checksum": STRING})),
        "checks": CHECKS,
        "findings": array(record({}, added={"code": STRING, "field": STRING, "message": STRING, "hint": STRING})),
        "note": STRING,
        "queue": QUEUE,
    },
)
GENERATED = record(
    {
        "version": STRING,
        "assetId": STRING,
        "slug": STRING,
        "category": STRING,
        "tags": array(STRING),
        "agentGuidance": STRING,
        "technical": record({"formats": array(STRING), "glyphCount": INTEGER, "variableAxes": array(STRING)}),
    },
    added={"toolSchemas": array(record({}, added={"name": STRING, "description": STRING, "inputSchema": OBJECT}))},
)
DISCOUNT_RECORD = record(
    {},
    added={
        "id": STRING,
        "assetId": STRING,
        "percent": INTEGER,
        "code": nullable(STRING),
        "startsAt": TIME,
        "endsAt": TIME,
        "status": one_of("Planned", "Running", "Ended"),
    },
)
STANDING = record(
    {}, added={"id": STRING, "status": STATUS, "updateStatus": nullable(one_of("PendingReview"))}, sometimes=("updateStatus",)
)

PRICE = {"minimum": 0, "maximum": 999_999.99}
PERCENT = {"minimum": 0, "maximum": 100}
# At most two decimals, and a JSON number; `1e400` cannot be written as one that is finite.
BAD_NUMBERS = ((0.001, "decimals"), "19.99", (-0.01, "min_value"))
SLUG = {"minLength": 1, "maxLength": 80}
BAD_SLUGS = (
    ("", "blank"),
    *((slug, "invalid_slug") for slug in ("Aurora", "a b", "-a", "a--b", "aurora ", "aurora\n", "\u0430urora")),
    *((slug, "reserved_slug") for slug in ("search", "suggest", "download", "01900000-0000-7000-8000-000000000000", "0190" * 8)),
)
# Texts of JSON that no database or program would take.
BAD_JSON = (
    "{",
    '{"a": "\\u0000"}',
    '{"a": "\\ud800"}',
    '{"a": 1e999}',
    '{"a": NaN}',
    '{"a": ' + "[" * 60 + "]" * 60 + "}",
    '{"a": ' + "[" * 9000,
)
LONG: dict[str, Any] = {"maxLength": 65_536}
# Short enough in characters, too long in bytes.
LONG_IN_BYTES = "é" * 40_000

TITLE = Field(
    "title",
    "string",
    "Aurora Sans",
    required=True,
    bounds={"minLength": 1, "maxLength": 120},
    bad=(("", "blank"), (" ", "blank"), ("a\nb", "control_characters")),
)
SHORT = Field(
    "shortDescription", "string", "A warm grotesque.", required=True, bounds={"minLength": 1, "maxLength": 200}, bad=(("", "blank"),)
)
DESCRIPTION = Field(
    "description", "string", "# Aurora\n", default="", bounds=LONG, bad=((LONG_IN_BYTES, "max_length"), ("\x00", "control_characters"))
)
CATEGORY = Field(
    "categorySlug",
    "string",
    "motion",
    required=True,
    bounds={"maxLength": 80},
    bad=("", ("nothing", "unknown_category"), ("retired", "unknown_category"), "Fonts"),
)
BASE_PRICE = Field("basePrice", "number", 19.99, required=True, bounds=PRICE, bad=BAD_NUMBERS)
DISCOUNT = Field("discountPercent", "number", 12.5, default=0, bounds=PERCENT, bad=BAD_NUMBERS)
TAX = Field("taxRatePercent", "number", 18, default=0, bounds=PERCENT, bad=BAD_NUMBERS)
FILE_TYPE = Field("fileType", "string", "OTF, WOFF2", default="", bounds={"maxLength": 200})
PLATFORMS = Field("supportedPlatforms", "string", "Figma, web", default="", bounds={"maxLength": 200})
VERSION = Field("version", "string", "1.2.0", default="", bounds={"maxLength": 32})
VIDEO = Field(
    "videoUrl",
    "string",
    "https://video.example.com/aurora",
    default="",
    bounds={"maxLength": 2000},
    bad=("http://example.com/v", "javascript:alert(1)", "aurora"),
)
TAGS = Field(
    "tags",
    "array",
    ["sans", "variable"],
    default=[],
    bounds={"maxItems": 20, "items": {"maxLength": 40}},
    bad=(([""], "blank"), [5], [None]),
    added=True,
)
AI_USE_FIELDS = (
    Field("aiTraining", "string", "allowed", default="forbidden", bounds={"enum": ["allowed", "forbidden", "by_licence"]}, added=True),
    Field("aiOrigin", "string", "declared", default="undeclared", bounds={"enum": ["undeclared", "none", "declared"]}, added=True),
    Field("aiParts", "string", "The cover", default="", bounds={"maxLength": 500}, bad=("a\nb",), added=True),
)
PRICE_INR = Field("priceInr", "number", 1499, nullable=True, default=None, bounds=PRICE, bad=BAD_NUMBERS)
PRICE_EUR = Field("priceEur", "number", 17.5, nullable=True, default=None, bounds=PRICE, bad=BAD_NUMBERS)
README = Field("readme", "string", "Thank you.\n", default="", bounds=LONG, bad=(LONG_IN_BYTES,))
LICENSES = Field(
    "allowedLicenseSlugs",
    "array",
    ["personal", "extended"],
    nullable=True,
    default=None,
    bounds={"minItems": 1, "maxItems": 20},
    bad=(([], "empty"), (["personal", "nothing"], "unknown_license"), (["retired"], "unknown_license"), ([5], "invalid"), [None]),
)

CREATE = (
    *(TITLE, SHORT, CATEGORY, BASE_PRICE),
    Field("slug", "string", "aurora-grotesk", required=True, bounds=SLUG, bad=BAD_SLUGS),
    *(DESCRIPTION, PRICE_INR, PRICE_EUR, DISCOUNT, TAX, FILE_TYPE, PLATFORMS, VERSION, VIDEO, README, LICENSES, TAGS, *AI_USE_FIELDS),
)
PATCH = (
    *(TITLE, SHORT, CATEGORY, BASE_PRICE),
    replace(DESCRIPTION, required=True),
    *(DISCOUNT, FILE_TYPE, PLATFORMS, VERSION, TAGS, *AI_USE_FIELDS),
    replace(VIDEO, added=True),
    replace(TAX, added=True),
    Field("slug", "string", "aurora-grotesk", bounds=SLUG, bad=BAD_SLUGS, added=True),
)
PICTURE = (
    Field("altText", "string", "The letters of Aurora Sans on a wall", bounds={"maxLength": 250}, bad=("a\nb", "\x00"), added=True),
    Field("sortOrder", "integer", 3, bounds={"minimum": 0, "maximum": 4}, bad=(0.5,), added=True),
)
APPLY = (
    Field("storeName", "string", "North Foundry", required=True, bounds={"minLength": 1, "maxLength": 120}, bad=("", "a\nb")),
    Field("storeSlug", "string", "north-foundry", required=True, bounds=SLUG, bad=BAD_SLUGS),
    Field("bio", "string", "We draw letters.", bounds=LONG, bad=(LONG_IN_BYTES,)),
    Field(
        "applicationDataJson",
        "string",
        '{"site": "https://example.com"}',
        bounds=LONG,
        bad=(("", "blank"), *((text, "invalid_json") for text in BAD_JSON), ("[]", "not_an_object"), '"x"'),
    ),
    Field("autoApprove", "boolean", sample=True),
)
PAGING = (PAGE, LIMIT)

APPROVED = frozenset({"vendor_not_approved"})
ONE = APPROVED | {"not_found"}
CHANGE = ONE | {"precondition_failed"}
EDIT = CHANGE | {"listing_locked"}
UPLOAD = EDIT | {
    "length_required",
    "malformed_request",
    "upload_incomplete",
    "file_rejected",
    "unsupported_type",
    "body_too_large",
    "unapproved_storage_full",
}

STORE_UPLOAD = UPLOAD - EDIT - {"unapproved_storage_full"} | APPROVED


def _listed(path: str, scene: str, item: Shape, refusals: frozenset[str]) -> Operation:
    """Return the operation that lists records page by page."""
    answer = record({}, added={"total": INTEGER, "page": INTEGER, "items": array(item)})
    return _op("GET", path, scene, answer, query=PAGING, refusals=refusals | {"invalid_input"}, added=True)


def _op(method: str, path: str, scene: str, answer: Shape, **more: Any) -> Operation:
    return Operation(method, path, Auth.BEARER, scene, answer, scope="vendor:manage", **more)


OPERATIONS = (
    _op(
        "POST",
        "/vendor/apply",
        "developer",
        record(PROFILE),
        body=APPLY,
        refusals=frozenset({"vendor_profile_exists", "store_slug_taken"}),
    ),
    _op(
        "GET",
        "/vendor/application-status",
        "draft",
        record(PROFILE | {"payoutMethod": nullable(STRING)}, added=PROFILE_ADDED | {"queue": QUEUE}),
        refusals=frozenset({"vendor_profile_missing"}),
    ),
    _op(
        "POST",
        "/vendor/assets",
        "draft",
        record(
            {
                name: SUMMARY[name]
                for name in (
                    *("id", "vendorId", "title", "slug", "shortDescription", "categorySlug", "basePrice"),
                    *("currency", "status", "fileType", "supportedPlatforms", "version"),
                )
            }
        ),
        body=CREATE,
        refusals=APPROVED | {"slug_taken", "ai_parts_mismatch", "too_many_drafts"},
    ),
    _op(
        "PATCH",
        "/vendor/assets/{id}",
        "draft",
        record({"id": STRING, "title": STRING, "version": STRING}),
        body=PATCH,
        refusals=EDIT | {"slug_locked", "slug_taken", "ai_parts_mismatch"},
    ),
    _op(
        "PATCH",
        "/vendor/assets/{id}/regional-prices",
        "draft",
        record({"id": STRING, "priceInr": nullable(NUMBER), "priceEur": nullable(NUMBER)}),
        body=(PRICE_INR, PRICE_EUR),
        refusals=EDIT,
    ),
    _op(
        "PATCH",
        "/vendor/assets/{id}/licensing",
        "draft",
        record({"id": STRING, "allowedLicenseSlugs": nullable(array(STRING))}),
        body=(replace(README, nullable=True), LICENSES),
        refusals=EDIT,
    ),
    _op("POST", "/vendor/assets/{id}/file", "draft", FILE, form="archive", refusals=UPLOAD | {"upload_conflict"}),
    _op("POST", "/vendor/assets/{id}/font-specimen", "draft", PREVIEW, form="web font", refusals=UPLOAD),
    _op(
        "POST",
        "/vendor/assets/{id}/gallery-image",
        "draft",
        PREVIEW,
        form="image",
        query=(Query("slot", "integer", required=True, bounds={"minimum": 0, "maximum": 4}, bad=("-1", "5", "x", "0.5", "")),),
        refusals=UPLOAD | {"invalid_input"},
    ),
    _op("POST", "/vendor/assets/{id}/audio-preview", "draft", PREVIEW, form="sound", refusals=UPLOAD),
    _op("POST", "/vendor/assets/{id}/manifest/generate", "ready", GENERATED, refusals=EDIT),
    _op(
        "POST",
        "/vendor/assets/{id}/submit",
        "ready",
        record(
            {"id": STRING, "status": STATUS, "submittedAt": TIME},
            added={"updateStatus": nullable(one_of("PendingReview"))},
            sometimes=("updateStatus",),
        ),
        refusals=CHANGE | {"invalid_transition", "nothing_to_review", "submit_checks_failed"},
    ),
    _op(
        "GET",
        "/vendor/assets",
        "draft",
        record({}, added={"total": INTEGER, "page": INTEGER, "items": array(record(SUMMARY, added=SUMMARY_ADDED))}),
        query=(*PAGING, Query("status", "string", bounds={"enum": STATUS["enum"]}, bad=("draft", "Gone"))),
        refusals=APPROVED | {"invalid_input"},
        added=True,
    ),
    _op("GET", "/vendor/assets/{id}", "ready", LISTING, refusals=ONE, added=True),
    _op("DELETE", "/vendor/assets/{id}", "draft", record({}, added={"id": STRING}), refusals=CHANGE | {"draft_not_deletable"}, added=True),
    _listed("/vendor/assets/{id}/reviews", "waiting", REVIEW, ONE),
    _listed("/vendor/assets/{id}/files", "waiting", VERSION_RECORD, ONE),
    _listed("/vendor/assets/{id}/discounts", "discounted", DISCOUNT_RECORD, ONE),
    _op(
        "POST",
        "/vendor/assets/{id}/discounts",
        "discounted",
        DISCOUNT_RECORD,
        body=(
            Field("percent", "integer", 25, required=True, bounds={"minimum": 1, "maximum": 90}, bad=(1.5, "25", True), added=True),
            Field("endsAt", "string", required=True, bounds={"maxLength": 40}, bad=("2030-01-31", "tomorrow"), added=True),
            Field("startsAt", "string", bounds={"maxLength": 40}, bad=("2030-01-31T12:00:00", ""), added=True),
            Field("code", "string", "AUTUMN", bounds=CODE, bad=BAD_CODES, added=True),
        ),
        refusals=ONE | {"discount_period_invalid", "discount_overlaps", "too_many_discounts"},
        added=True,
    ),
    _op("DELETE", "/vendor/assets/{id}/discounts/{discount_id}", "discounted", DISCOUNT_RECORD, refusals=ONE, added=True),
    _op(
        "POST",
        "/vendor/assets/{id}/preflight",
        "ready",
        record({}, added={"passed": BOOLEAN, "checks": CHECKS}),
        refusals=ONE,
        added=True,
    ),
    _op(
        "PATCH",
        "/vendor/store",
        "draft",
        record({}, added=PROFILE | {"payoutMethod": nullable(STRING)} | PROFILE_ADDED | {"queue": QUEUE}),
        body=tuple(replace(field, required=False, added=True) for field in APPLY if field.name in {"storeName", "bio"}),
        refusals=APPROVED,
        added=True,
    ),
    *(
        operation
        for kind in ("logo", "banner")
        for operation in (
            _op("POST", f"/vendor/store/{kind}", "draft", STORE_PICTURE, form="image", refusals=STORE_UPLOAD, added=True),
            _op("DELETE", f"/vendor/store/{kind}", "decorated", STORE_PICTURE, refusals=ONE, added=True),
        )
    ),
    _listed("/vendor/uploads", "sent", UPLOAD_RECORD, APPROVED),
    _op("GET", "/vendor/uploads/{upload_id}", "sent", UPLOAD_RECORD, refusals=ONE, added=True),
    _op(
        "POST",
        "/vendor/uploads/{upload_id}/finish",
        "sent",
        FILE,
        refusals=EDIT | {"unapproved_storage_full", "upload_conflict", "upload_finishing", "upload_unfinished", "file_rejected"},
        added=True,
    ),
    _op("DELETE", "/vendor/assets/{id}/file", "uploaded", FILE, refusals=EDIT, added=True),
    _op(
        "PATCH",
        "/vendor/assets/{id}/previews/{preview_id}",
        "uploaded",
        PREVIEW,
        body=PICTURE,
        refusals=EDIT | {"thumbnail_needed"},
        added=True,
    ),
    _op("DELETE", "/vendor/assets/{id}/previews/{preview_id}", "uploaded", PREVIEW, refusals=EDIT | {"thumbnail_needed"}, added=True),
    _op("POST", "/vendor/assets/{id}/withdraw", "waiting", STANDING, refusals=CHANGE | {"invalid_transition"}, added=True),
    _op("POST", "/vendor/assets/{id}/unpublish", "selling", STANDING, refusals=CHANGE | {"invalid_transition"}, added=True),
)
