"""The public catalog."""

from dataclasses import replace

from .shapes import BOOLEAN, BYTES, INTEGER, NUMBER, OBJECT, SHA256, STRING, TIME, Auth, Operation, Query, array, nullable, one_of, record

TIER = one_of("free", "go", "pro", "vip")
AI_USE = {
    "aiTraining": one_of("allowed", "forbidden", "by_licence"),
    "aiOrigin": one_of("undeclared", "none", "declared"),
    "aiParts": STRING,
}
BAD_LIMITS = ("0", "-1", "x", "1.5", "1.0", "1_0", "\u0661", " 1")
PAGE = Query("page", "integer", default=1, bounds={"minimum": 1, "maximum": 1_000_000}, bad=(*BAD_LIMITS, "1000001"))
LIMIT = Query("limit", "integer", default=25, bounds={"minimum": 1}, bad=BAD_LIMITS, maximum=100)
LIMIT_OF_THE_CATALOG = replace(LIMIT, default=20, maximum=50)

PRICES = {"priceUSD": NUMBER, "priceINR": nullable(NUMBER), "priceEUR": nullable(NUMBER)}
LICENSE = record({}, added={"slug": STRING, "name": STRING, "summary": STRING, **PRICES})
PREVIEW = record(
    {"id": STRING, "assetId": STRING, "kind": one_of("Gallery", "FontSpecimen", "AudioPreview"), "sortOrder": INTEGER, "url": STRING},
    added={"altText": STRING},
    sometimes=("sortOrder", "altText"),
)
USES = (
    *("personal", "commercial_project", "client_work", "print_run", "merchandise", "app", "web_traffic", "broadcast", "team"),
    *("template_resale", "ai_training", "redistribution"),
)
RIGHTS_OF_LICENSE = record(
    {},
    added={
        "slug": STRING,
        "name": STRING,
        "owned": BOOLEAN,
        "verdict": one_of("yes", "no", "unclear"),
        "permission": one_of("allowed", "up_to", "forbidden", "not_said"),
        "maximumQuantity": nullable(INTEGER),
        "clause": STRING,
        "termsVersion": INTEGER,
        "termsSha256": SHA256,
        "termsUrl": STRING,
        "priceUSD": nullable(NUMBER),
        "priceINR": nullable(NUMBER),
        "priceEUR": nullable(NUMBER),
    },
)
RIGHTS = record(
    {},
    added={
        "assetId": STRING,
        "slug": STRING,
        "use": one_of(*USES),
        "quantity": INTEGER,
        "decision": one_of("yes", "buy", "unclear", "no"),
        "licenseSlug": nullable(STRING),
        "licenses": array(RIGHTS_OF_LICENSE),
    },
)
CATEGORY = record(
    {"slug": STRING, "metadata": OBJECT},
    added={"name": STRING, "description": STRING, "icon": STRING, "sortOrder": INTEGER, "assetCount": INTEGER},
)
# The specification: priceINR is a number. It is null where the vendor set no INR price, nothing is converted.
ADDED_TO_ITEM = {
    "slug": STRING,
    "vendor": record({}, added={"storeName": STRING, "storeSlug": STRING, "logoUrl": nullable(STRING)}),
    "priceUSD": NUMBER,
    "priceEUR": nullable(NUMBER),
    "thumbnailUrl": nullable(STRING),
    "licenses": array(record({}, added={"slug": STRING, **PRICES})),
}
ITEM = record({"id": STRING, "title": STRING, "priceINR": nullable(NUMBER), "tierRequirement": TIER}, added=ADDED_TO_ITEM)
RESULT = record(
    {"id": STRING, "title": STRING, "score": NUMBER}, added={"priceINR": nullable(NUMBER), "tierRequirement": TIER, **ADDED_TO_ITEM}
)
DETAIL = record(
    {},
    added={
        "id": STRING,
        "slug": STRING,
        "title": STRING,
        "shortDescription": STRING,
        "description": STRING,
        "category": record({}, added={"slug": STRING, "name": STRING}),
        "vendor": record({}, added={"storeName": STRING, "storeSlug": STRING, "logoUrl": nullable(STRING)}),
        **PRICES,
        "discountPercent": NUMBER,
        "discountEndsAt": nullable(TIME),
        "listPrices": record({}, added={"USD": NUMBER, "INR": nullable(NUMBER), "EUR": nullable(NUMBER)}),
        "taxRatePercent": NUMBER,
        "tierRequirement": TIER,
        "fileType": STRING,
        "supportedPlatforms": STRING,
        "version": STRING,
        "videoUrl": STRING,
        "tags": array(STRING),
        **AI_USE,
        "licenses": array(LICENSE),
        "previews": array(PREVIEW),
        "file": record({}, added={"size": INTEGER, "checksum": SHA256, "technical": OBJECT}),
        "publishedAt": TIME,
        "updatedAt": TIME,
        "popularity": INTEGER,
    },
)
MANIFEST = record(
    {"assetId": STRING, "schemaVersion": STRING, "semanticTags": array(STRING)},
    added={
        "slug": STRING,
        "title": STRING,
        "category": STRING,
        "tokenMetrics": record(
            {}, added={"method": STRING, "descriptionTokens": INTEGER, "instructionTokens": INTEGER, "totalTokens": INTEGER}
        ),
        "promptInstructions": record(
            {}, added={"summary": STRING, "whenToUse": array(STRING), "howToUse": array(STRING), "limits": array(STRING)}
        ),
        "dependencies": array(record({}, added={"name": STRING, "kind": STRING, "version": nullable(STRING), "optional": BOOLEAN})),
        "technical": OBJECT,
        "licenses": array(LICENSE),
        **AI_USE,
        "checksum": SHA256,
        "version": STRING,
    },
)

NAMES = record({}, added={"count": INTEGER, "names": array(STRING)})
VALUE = record({}, added={"name": STRING, "before": nullable(STRING), "after": nullable(STRING)})
VERSION = record({}, added={"id": STRING, "version": STRING, "approvedAt": TIME})
ADDED_REMOVED = record({}, added={"added": NAMES, "removed": NAMES})
CHANGES = record(
    {},
    added={
        "assetId": STRING,
        "from": VERSION,
        "to": VERSION,
        "comparable": BOOLEAN,
        "summary": array(STRING),
        "details": array(VALUE),
        "files": record({}, added={"added": NAMES, "removed": NAMES, "changed": NAMES}),
        "fonts": array(
            record(
                {},
                added={
                    "path": STRING,
                    **dict.fromkeys(("glyphsBefore", "glyphsAfter"), INTEGER),
                    **dict.fromkeys(("added", "removed", "redrawn", "respaced"), NAMES),
                    **dict.fromkeys(("names", "metrics", "axes"), array(VALUE)),
                },
            )
        ),
        "hosts": ADDED_REMOVED,
        "tools": ADDED_REMOVED,
    },
    # There is none before the first version.
    sometimes=("from",),
)

FACET_NAMES = "(category|tier|fileType|license)"
FACETS = Query(
    "facets",
    "string",
    bounds={"pattern": f"^{FACET_NAMES}(,{FACET_NAMES})*$", "maxLength": 100},
    bad=("colour", "category,", "tier;license"),
)
FACETED = {"facets": OBJECT, "facetsAreExact": BOOLEAN}
PRICE_BOUNDS = {"minimum": 0, "maximum": 999_999.99}
BAD_PRICES = ("-1", "x", "0.001", "1000000", "NaN")
# One value, or any of several.
VALUES = ["string", "array"]
FILTERS = (
    Query("category", VALUES, bounds={"maxLength": 80, "maxItems": 20}, bad=("x" * 81,)),
    Query("tier", VALUES, bounds={"pattern": "^!?(free|go|pro|vip)$", "maxItems": 20}, bad=("gold", "FREE", "!gold")),
    Query("vendor", VALUES, bounds={"maxLength": 80, "maxItems": 20}, bad=("x" * 81,)),
    Query("license", VALUES, bounds={"maxLength": 40, "maxItems": 20}, bad=("x" * 41,)),
    Query("tag", VALUES, bounds={"maxLength": 40, "maxItems": 20}, bad=("x" * 41,)),
    Query("platform", VALUES, bounds={"maxLength": 200, "maxItems": 20}, bad=("x" * 201,)),
    Query("fileType", VALUES, bounds={"maxLength": 200, "maxItems": 20}, bad=("x" * 201,)),
    Query(
        "aiTraining", VALUES, bounds={"pattern": "^!?(allowed|forbidden|by_licence)$", "maxItems": 20}, bad=("maybe", "!maybe", "Allowed")
    ),
    Query("aiOrigin", VALUES, bounds={"pattern": "^!?(undeclared|none|declared)$", "maxItems": 20}, bad=("maybe", "!maybe", "None")),
    Query("minPrice", "number", bounds=PRICE_BOUNDS, bad=BAD_PRICES),
    Query("maxPrice", "number", bounds=PRICE_BOUNDS, bad=BAD_PRICES),
    Query("currency", "string", default="INR", bounds={"enum": ["USD", "INR", "EUR"]}, bad=("GBP", "inr")),
)

OPERATIONS = (
    Operation("GET", "/categories", Auth.NONE, "for_sale", record({}, added={"total": INTEGER, "items": array(CATEGORY)})),
    Operation(
        "GET",
        "/assets",
        Auth.NONE,
        "for_sale",
        record(
            {"total": INTEGER, "page": INTEGER, "items": array(ITEM), "totalIsExact": BOOLEAN, **FACETED},
            added={"nextCursor": nullable(STRING)},
            sometimes=("totalIsExact", *FACETED),
        ),
        query=(
            *FILTERS,
            Query("cursor", "string", bounds={"maxLength": 1000}, bad=("x", "e30", "x" * 1001)),
            FACETS,
            PAGE,
            LIMIT_OF_THE_CATALOG,
            Query(
                "sort",
                "string",
                default="popular",
                bounds={"enum": ["popular", "newest", "price_asc", "price_desc"]},
                bad=("cheapest", "Popular"),
            ),
        ),
        refusals=frozenset({"invalid_input"}),
    ),
    Operation("GET", "/assets/{id}", Auth.NONE, "for_sale", DETAIL, refusals=frozenset({"not_found"})),
    Operation(
        "GET",
        "/assets/search",
        Auth.NONE,
        "for_sale",
        record(
            {"query": STRING, "count": INTEGER, "results": array(RESULT), **FACETED},
            added={"total": INTEGER, "totalIsExact": BOOLEAN, "nextCursor": nullable(STRING), "suggestions": array(STRING)},
            sometimes=("totalIsExact", "suggestions", *FACETED),
        ),
        query=(
            Query("q", "string", required=True, bounds={"maxLength": 200}, bad=("", "   ", "x" * 201)),
            LIMIT_OF_THE_CATALOG,
            *FILTERS,
            Query("cursor", "string", bounds={"maxLength": 1000}, bad=("x", "e30", "x" * 1001)),
            FACETS,
        ),
        refusals=frozenset({"invalid_input"}),
    ),
    Operation(
        "GET",
        "/assets/suggest",
        Auth.NONE,
        "for_sale",
        record(
            {},
            added={
                "query": STRING,
                "suggestions": array(record({}, added={"id": STRING, "slug": STRING, "title": STRING, "category": STRING})),
            },
        ),
        query=(Query("q", "string", required=True, bounds={"maxLength": 200}, bad=("", "   ", "x" * 201)),),
        refusals=frozenset({"invalid_input"}),
        added=True,
    ),
    Operation(
        "GET",
        "/assets/{id}/changes",
        Auth.NONE,
        "for_sale",
        CHANGES,
        query=(
            Query("from", "string", bounds={"maxLength": 36}, bad=("x" * 37,)),
            Query("to", "string", bounds={"maxLength": 36}, bad=("x" * 37,)),
        ),
        refusals=frozenset({"invalid_input", "not_found"}),
        added=True,
    ),
    Operation(
        "GET",
        "/assets/{id}/rights",
        Auth.NONE,
        "for_sale",
        RIGHTS,
        query=(
            Query("use", "string", required=True, bounds={"enum": list(USES)}, bad=("", "war", "Personal")),
            Query(
                "quantity", "integer", default=1, bounds={"minimum": 1, "maximum": 1_000_000_000}, bad=("0", "-1", "1000000001", "x", "1.5")
            ),
        ),
        refusals=frozenset({"invalid_input", "not_found"}),
        added=True,
    ),
    Operation("GET", "/assets/{id}/manifest", Auth.KEY, "for_sale", MANIFEST, scope="catalog:read", refusals=frozenset({"not_found"})),
    Operation(
        "GET",
        "/previews/{preview_id}",
        Auth.NONE,
        "for_sale",
        BYTES,
        query=(Query("size", "string", bounds={"enum": ["card"]}, bad=("huge",)),),
        refusals=frozenset({"invalid_input", "not_found", "range_not_satisfiable"}),
        added=True,
    ),
)
