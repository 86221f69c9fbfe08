"""Orders and transactions, which the reference does not have."""

from .catalog import BAD_LIMITS
from .purse import CURRENCY
from .shapes import BYTES, NUMBER, STRING, TIME, Auth, Field, Operation, Query, array, nullable, one_of, record

ORDER = record(
    {
        "id": STRING,
        "status": one_of("Completed", "Refunded", "ChargedBack"),
        "assetId": STRING,
        "title": STRING,
        "licenseSlug": STRING,
        "licenseName": STRING,
        "seller": STRING,
        "version": STRING,
        "currency": CURRENCY,
        "price": NUMBER,
        "taxIncluded": NUMBER,
        "taxRatePercent": NUMBER,
        "appId": nullable(STRING),
        "createdAt": TIME,
        "refundedAt": nullable(TIME),
        "receiptUrl": STRING,
        "receiptPdfUrl": STRING,
    }
)
MOVEMENT = record(
    {
        "id": STRING,
        "kind": one_of("funding", "purchase", "refund", "withdrawal", "withdrawal_returned", "frozen", "unfrozen"),
        "amount": NUMBER,
        "currency": CURRENCY,
        "balanceAfter": NUMBER,
        "at": TIME,
        "orderId": nullable(STRING),
        "title": nullable(STRING),
    }
)
PAGING = (
    Query("limit", "integer", default=25, bounds={"minimum": 1}, bad=BAD_LIMITS, maximum=100),
    Query("cursor", "string", bounds={"maxLength": 200}, bad=("nonsense", "x" * 201)),
)


def _get(path: str, answer: dict[str, object], *, paged: bool = False) -> Operation:
    return Operation(
        "GET",
        path,
        Auth.KEY_OR_BEARER,
        "ordered",
        answer,
        scope="account:read",
        query=PAGING if paged else (),
        refusals=frozenset({"invalid_input"} if paged else {"not_found"}),
        added=True,
    )


OPERATIONS = (
    Operation(
        "PATCH",
        "/wallet",
        Auth.KEY_OR_BEARER,
        "for_sale",
        record({"balanceINR": NUMBER, "balanceUSD": NUMBER, "currencyPreference": CURRENCY}),
        scope="wallet:spend",
        body=(Field("currencyPreference", "string", "USD", required=True, bounds={"enum": ["INR", "USD"]}, bad=("EUR", "inr", "")),),
        added=True,
    ),
    _get("/wallet/transactions", record({"items": array(MOVEMENT), "nextCursor": nullable(STRING)}), paged=True),
    _get("/orders", record({"items": array(ORDER), "nextCursor": nullable(STRING)}), paged=True),
    _get("/orders/{order_id}", ORDER),
    _get("/orders/{order_id}/receipt", BYTES),
    _get("/orders/{order_id}/receipt.pdf", BYTES),
)
