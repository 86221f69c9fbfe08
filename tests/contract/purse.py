"""Library and wallet."""

from .catalog import LIMIT
from .shapes import BOOLEAN, BYTES, INTEGER, NUMBER, SHA256, STRING, TIME, Auth, Field, Operation, Query, array, nullable, one_of, record

CURRENCY = one_of("INR", "USD")
CODE = {"minLength": 4, "maxLength": 24}
BAD_CODES = ("", "abc", "two words", "ümlaut")
LICENSEE = {"name": "Client GmbH", "email": "fonts@client.example"}
WISH = (
    Field("assetId", "string", required=True, bounds={"maxLength": 80}, bad=("", "  ")),
    Field("currency", "string", "USD", bounds={"enum": ["INR", "USD"]}, bad=("EUR", "inr", ""), added=True),
    Field("licenseSlug", "string", "commercial", bounds={"maxLength": 40}, bad=("",), added=True),
    Field("discountCode", "string", "SPRING", bounds=CODE, bad=BAD_CODES, added=True),
    Field("upgradeFrom", "string", bounds={"maxLength": 40}, bad=("",), added=True),
    Field("licensee", "object", LICENSEE, bad=({"name": "A"}, {"name": "A", "email": "a"}, {**LICENSEE, "id": "1"}), added=True),
)
FOR = {"licensee": nullable(record({"name": STRING, "email": STRING}))}
REDUCTIONS = {"discount": NUMBER, "discountCode": nullable(STRING), "upgradeFrom": nullable(STRING), "upgradeCredit": NUMBER}
NO_OFFER = frozenset({"not_found", "tier_required", "already_owned", "own_listing", "price_unavailable", "license_not_available"}) | {
    *("discount_code_invalid", "discount_ended", "upgrade_unavailable", "upgrade_currency_differs")
}

CALLER = record(
    {
        "userId": STRING,
        "name": nullable(STRING),
        "email": nullable(STRING),
        "environment": STRING,
        "credential": record(
            {
                "kind": one_of("api_key", "personal", "oauth", "mcp", "first_party", "console"),
                "prefix": STRING,
                "lastFour": STRING,
                "name": STRING,
                "expiresAt": nullable(TIME),
            }
        ),
        "app": nullable(record({"appId": STRING, "name": STRING})),
        "scopes": array(STRING),
        "needsSpendingLimit": BOOLEAN,
        "spendingLimits": array(
            record(
                {
                    "currency": CURRENCY,
                    "setBy": STRING,
                    "perPurchase": nullable(NUMBER),
                    "perDay": nullable(NUMBER),
                    "total": nullable(NUMBER),
                    "spentToday": NUMBER,
                    "spentInAll": NUMBER,
                    "categories": array(STRING),
                }
            )
        ),
        "rateLimits": array(
            record({"policy": STRING, "calls": INTEGER, "used": INTEGER, "windowSeconds": INTEGER, "resetSeconds": INTEGER})
        ),
    }
)
TOP_UP = record(
    {
        "id": STRING,
        "status": one_of("Pending", "Succeeded", "Failed", "Disputed", "Returned"),
        "amount": NUMBER,
        "currency": CURRENCY,
        "paymentUrl": STRING,
        "expiresAt": TIME,
        "receiptUrl": nullable(STRING),
    }
)
APPROVAL = record(
    {
        "approvalId": STRING,
        "status": one_of("Waiting", "Approved", "Declined", "Completed", "Expired"),
        "approvalUrl": STRING,
        "assetId": STRING,
        "licenseSlug": STRING,
        "price": NUMBER,
        "currency": CURRENCY,
        "reason": STRING,
        "exceededLimit": STRING,
        "createdAt": TIME,
        "expiresAt": TIME,
        "decidedAt": nullable(TIME),
        "orderId": nullable(STRING),
    }
)
_MOMENTS = ("yesterday", "2026-01-01", "2026-01-01T00:00:00", "x" * 41)
DATES = tuple(Query(name, "string", bounds={"maxLength": 40}, bad=_MOMENTS) for name in ("createdAfter", "createdBefore"))

OPERATIONS = (
    Operation(
        "GET",
        "/library",
        Auth.KEY_OR_BEARER,
        "owned",
        record(
            {
                "ownedCount": INTEGER,
                "items": array(
                    record(
                        {"assetId": STRING, "acquiredAt": TIME},
                        added={
                            **dict.fromkeys(("title", "slug", "version", "boughtVersion", "licenseSlug", "orderId"), STRING),
                            "file": nullable(record({}, added={"id": STRING, "name": STRING, "size": INTEGER, "checksum": SHA256})),
                            "suspended": BOOLEAN,
                            "onSale": BOOLEAN,
                            "aiTraining": one_of("allowed", "forbidden", "by_licence"),
                        },
                    )
                ),
            },
            added={"nextCursor": nullable(STRING)},
        ),
        scope="library:read",
        query=(
            LIMIT,
            Query("cursor", "string", bounds={"maxLength": 200}, bad=("nonsense", "!!", "MjAyNg", "x" * 201)),
            *DATES,
        ),
        refusals=frozenset({"invalid_input"}),
    ),
    Operation(
        "POST",
        "/library/download/{id}",
        Auth.KEY_OR_BEARER,
        "owned",
        record({"downloadUrl": STRING, "expiresAt": TIME}, added={"fileName": STRING, "size": INTEGER, "checksum": SHA256}),
        scope="library:download",
        query=(Query("version", "string", bounds={"maxLength": 36}, bad=("x" * 37,)),),
        refusals=frozenset({"not_found", "not_owned", "file_blocked", "license_suspended", "invalid_input"}),
    ),
    Operation(
        "GET",
        "/downloads/{token}",
        Auth.NONE,
        "link",
        BYTES,
        refusals=frozenset({"link_invalid", "link_expired", "link_revoked", "license_suspended", "file_blocked", "range_not_satisfiable"}),
        added=True,
    ),
    Operation("GET", "/me", Auth.KEY_OR_BEARER, "for_sale", CALLER, added=True),
    Operation(
        "GET",
        "/wallet",
        Auth.KEY_OR_BEARER,
        "for_sale",
        record({"balanceINR": NUMBER, "balanceUSD": NUMBER, "currencyPreference": CURRENCY}),
        scope="account:read",
    ),
    Operation(
        "POST",
        "/wallet/quote",
        Auth.KEY_OR_BEARER,
        "for_sale",
        record(
            {
                "quoteId": STRING,
                "price": NUMBER,
                "currency": CURRENCY,
                "taxIncluded": NUMBER,
                "licenseSlug": STRING,
                "expiresAt": TIME,
                "withinLimits": BOOLEAN,
                "exceededLimit": nullable(STRING),
                **REDUCTIONS,
                **FOR,
            }
        ),
        scope="wallet:spend",
        body=WISH,
        refusals=NO_OFFER | {"too_many_quotes"},
        added=True,
    ),
    Operation(
        "POST",
        "/wallet/spend",
        Auth.KEY_OR_BEARER,
        "quoted",
        record(
            {"success": BOOLEAN, "orderId": STRING, "debitedINR": NUMBER, "newBalanceINR": NUMBER},
            added={
                "currency": CURRENCY,
                "debited": NUMBER,
                "newBalance": NUMBER,
                "debitedUSD": NUMBER,
                "newBalanceUSD": NUMBER,
                "taxIncluded": NUMBER,
                "licenseSlug": STRING,
                **REDUCTIONS,
                **FOR,
            },
        ),
        scope="wallet:spend",
        body=(
            *WISH,
            Field("quoteId", "string", bounds={"maxLength": 36}, bad=("",), added=True),
            Field("onLimit", "string", "refuse", bounds={"enum": ["refuse", "ask"]}, bad=("Ask", ""), added=True),
            Field("reason", "string", "For the poster.", bounds={"maxLength": 300}, bad=("", "  "), added=True),
        ),
        refusals=NO_OFFER
        | {
            "insufficient_balance",
            "spending_limit_exceeded",
            "quote_expired",
            "quote_used",
            "quote_mismatch",
            "idempotency_conflict",
            "idempotency_key_reused",
            "license_not_upgradable",
            "idempotency_key_required",
            "approval_declined",
            "approval_expired",
            "too_many_approvals",
        },
    ),
    Operation(
        "GET",
        "/approvals/{approval_id}",
        Auth.KEY_OR_BEARER,
        "asking_the_owner",
        APPROVAL,
        scope="wallet:spend",
        refusals=frozenset({"not_found"}),
        added=True,
    ),
    Operation(
        "POST",
        "/wallet/top-ups",
        Auth.BEARER,
        "without_credit",
        TOP_UP,
        scope="wallet:fund",
        body=(
            Field(
                "amount",
                "number",
                499.0,
                required=True,
                bounds={"minimum": 1, "maximum": 999_999.99},
                bad=(-1, 0.99, 1_000_000, 1.005, "499"),
                added=True,
            ),
            Field("currency", "string", "INR", required=True, bounds={"enum": ["INR", "USD"]}, bad=("EUR", "inr", ""), added=True),
            Field(
                "returnUrl",
                "string",
                "http://testserver/dashboard/wallet",
                bounds={"maxLength": 2000},
                bad=("",),
                added=True,
            ),
        ),
        refusals=frozenset(
            {
                "invalid_amount",
                "invalid_return_url",
                "top_up_unavailable",
                "top_up_limit_exceeded",
                "too_many_top_ups",
                "payment_provider_unavailable",
                "payment_refused",
                "payment_page_closed",
                "idempotency_key_reused",
            }
        ),
        added=True,
    ),
    Operation(
        "GET",
        "/wallet/top-ups/{top_up_id}",
        Auth.BEARER,
        "topping_up",
        TOP_UP,
        scope="wallet:fund",
        refusals=frozenset({"not_found"}),
        added=True,
    ),
)
