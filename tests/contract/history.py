"""Orders and transactions, which the reference does not have."""

from dataclasses import replace

from django_countries.data import COUNTRIES

from .catalog import BAD_LIMITS
from .purse import CURRENCY, REDUCTIONS
from .shapes import BOOLEAN, BYTES, NUMBER, STRING, TIME, Auth, Field, Operation, Query, Shape, array, nullable, one_of, record

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
        **REDUCTIONS,
        "appId": nullable(STRING),
        "createdAt": TIME,
        "refundedAt": nullable(TIME),
        "receiptUrl": STRING,
        "receiptPdfUrl": STRING,
    }
)
DOCUMENT: dict[str, Shape] = {
    "number": STRING,
    "date": STRING,
    "seller": STRING,
    "sellerTaxId": STRING,
    "buyer": STRING,
    "buyerTaxId": STRING,
    "description": STRING,
    "treatment": one_of("listing", "domestic", "intra_state", "inter_state", "destination", "reverse_charge", "export"),
    "currency": CURRENCY,
    "net": NUMBER,
    "taxLines": array(record({"name": STRING, "ratePercent": NUMBER, "amount": NUMBER})),
    "total": NUMBER,
    "pdfUrl": STRING,
}
BILLING = record(
    {**dict.fromkeys(("name", "street", "postalCode", "city", "region", "country", "taxId"), STRING), "countryConfirmed": BOOLEAN}
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
    *(
        replace(_get(path, answer), scene="invoiced", refusals=frozenset({"not_found", "invoice_pending", "not_invoiced"}))
        for path, answer in (
            ("/orders/{order_id}/invoice", record({**DOCUMENT, "creditNote": nullable(record(DOCUMENT))})),
            ("/orders/{order_id}/invoice.pdf", BYTES),
            ("/orders/{order_id}/credit-note.pdf", BYTES),
        )
    ),
    Operation("GET", "/account/billing", Auth.KEY_OR_BEARER, "billed", BILLING, scope="account:read", added=True),
    Operation(
        "PATCH",
        "/account/billing",
        Auth.KEY_OR_BEARER,
        "billed",
        BILLING,
        scope="wallet:spend",
        body=(
            Field("name", "string", "Bo Buyer", bounds={"maxLength": 120}, bad=("", "x" * 121)),
            Field("street", "string", "2 Marine Drive", bounds={"maxLength": 200}, bad=("", "x" * 201)),
            Field("postalCode", "string", "400001", bounds={"maxLength": 16}, bad=("x" * 17,)),
            Field("city", "string", "Mumbai", bounds={"maxLength": 200}, bad=("", "x" * 201)),
            Field("region", "string", "27", bounds={"maxLength": 60}, bad=("x" * 61,)),
            Field("country", "string", "IN", bounds={"enum": sorted(COUNTRIES)}, bad=("", "ZZ", "IND")),
            Field("taxId", "string", "27AAPFU0939F1ZV", bounds={"maxLength": 30}, bad=("x" * 31,)),
        ),
        refusals=frozenset({"invalid_billing_details"}),
        added=True,
    ),
)
