"""Orders and transactions, which the specification does not have."""

from dataclasses import replace

from django_countries.data import COUNTRIES

from wallet.models.ledger import JournalKind

from .catalog import LIMIT
from .certificates import CERTIFICATE, STATUS
from .purse import CURRENCY, DATES, REDUCTIONS
from .shapes import (
    BOOLEAN,
    BYTES,
    INTEGER,
    NUMBER,
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

ORDER = record(
    {
        "id": STRING,
        "status": one_of("Completed", "Refunded", "ChargedBack"),
        "assetId": STRING,
        "title": STRING,
        "licenseSlug": STRING,
        "licenseName": STRING,
        "termsVersion": INTEGER,
        "termsSha256": SHA256,
        "seller": STRING,
        "version": STRING,
        "currency": CURRENCY,
        "price": NUMBER,
        "taxIncluded": NUMBER,
        "taxRatePercent": NUMBER,
        **REDUCTIONS,
        "licensee": nullable(record({"name": STRING, "email": STRING, "status": one_of("Sent", "Claimed")})),
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
        "kind": one_of("funding", "purchase", "refund", "payout", "payout_returned", "frozen", "unfrozen", "repayment"),
        "amount": NUMBER,
        "currency": CURRENCY,
        "balanceAfter": NUMBER,
        "at": TIME,
        "orderId": nullable(STRING),
        "title": nullable(STRING),
    }
)
REFUND_STATUS = one_of("Waiting", "Declined", "InReview", "Refunded", "Refused", "Closed")
REFUND_REASON = one_of("faulty", "not_as_described", "mistake", "other")
REFUND_REQUEST = record(
    {
        "id": STRING,
        "orderId": STRING,
        "status": REFUND_STATUS,
        "reason": REFUND_REASON,
        "details": STRING,
        "askedAt": TIME,
        "answerBy": nullable(TIME),
        "answer": STRING,
        "decision": STRING,
        "endedAt": nullable(TIME),
        "orderUrl": STRING,
    }
)
_PRICED: dict[str, Shape] = {"currency": CURRENCY, "price": NUMBER}
EVIDENCE = record(
    {
        "schemaVersion": STRING,
        "issuer": STRING,
        "issuedAt": TIME,
        "reader": one_of("buyer", "vendor", "staff"),
        "order": record(
            {
                **dict.fromkeys(("id", "assetId", "title", "licenseSlug", "licenseName", "seller", "version", "boughtBy"), STRING),
                "status": one_of("Completed", "Refunded", "ChargedBack"),
                **_PRICED,
                **dict.fromkeys(("taxIncluded", "discount", "upgradeCredit"), NUMBER),
                "upgradeFrom": nullable(STRING),
                "createdAt": TIME,
                "refundedAt": nullable(TIME),
            }
        ),
        "quote": nullable(record({"id": STRING, **_PRICED, "createdAt": TIME, "expiresAt": TIME})),
        "consent": nullable(record({"version": STRING, "text": STRING})),
        "certificate": CERTIFICATE,
        "license": record({"status": STATUS, "revokedAt": nullable(TIME)}),
        "downloads": array(record({"at": TIME, "file": STRING, "version": STRING, "checksum": STRING, "range": STRING})),
        "downloadCount": INTEGER,
        "invoices": array(record({"kind": one_of("invoice", "credit_note"), "number": STRING, "date": STRING})),
        "refundRequest": nullable(
            record(
                {
                    "status": REFUND_STATUS,
                    "reason": REFUND_REASON,
                    **dict.fromkeys(("details", "answer", "objection", "decision"), STRING),
                    "askedAt": TIME,
                    **dict.fromkeys(("answeredAt", "escalatedAt", "endedAt"), nullable(TIME)),
                }
            )
        ),
        "disputes": array(
            record(
                {
                    "kind": one_of("dispute", "refund"),
                    "status": one_of("Open", "Kept", "Returned"),
                    "openedAt": TIME,
                    "decidedAt": nullable(TIME),
                }
            )
        ),
        "ledger": array(
            record(
                {
                    "id": STRING,
                    "kind": one_of(*JournalKind.values),
                    "at": TIME,
                    "currency": CURRENCY,
                    "amount": nullable(NUMBER),
                    "digest": STRING,
                    "ledgerDigest": nullable(record({"number": INTEGER, "digest": STRING})),
                }
            )
        ),
    }
)
PAGING = (
    LIMIT,
    Query("cursor", "string", bounds={"maxLength": 200}, bad=("nonsense", "x" * 201)),
)

_APP = Query("appId", "string", bounds={"maxLength": 36}, bad=("x" * 37,))
_KIND = Query(
    "kind",
    "string",
    bounds={"enum": ["frozen", "funding", "payout", "payout_returned", "purchase", "refund", "repayment", "unfrozen"]},
    bad=("Sale", "x"),
)
_STATUS = Query("status", "string", bounds={"enum": ["Completed", "Refunded", "ChargedBack"]}, bad=("completed", "x"))


def _get(path: str, answer: dict[str, object], *, paged: bool = False, filters: tuple[Query, ...] = ()) -> Operation:
    return Operation(
        "GET",
        path,
        Auth.KEY_OR_BEARER,
        "ordered",
        answer,
        scope="account:read",
        query=(*PAGING, *filters) if paged else (),
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
    _get(
        "/wallet/transactions",
        record({"items": array(MOVEMENT), "nextCursor": nullable(STRING)}),
        paged=True,
        filters=(*DATES, _APP, _KIND),
    ),
    _get("/orders", record({"items": array(ORDER), "nextCursor": nullable(STRING)}), paged=True, filters=(*DATES, _APP, _STATUS)),
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
    Operation(
        "POST",
        "/orders/{order_id}/refund-requests",
        Auth.KEY_OR_BEARER,
        "refundable",
        REFUND_REQUEST,
        scope="wallet:spend",
        body=(
            Field("reason", "string", "faulty", required=True, bounds={"enum": list(REFUND_REASON["enum"])}, bad=("whim", "")),
            Field("details", "string", "It does not open.", bounds={"maxLength": 2000}, bad=("x" * 2001,)),
        ),
        refusals=frozenset({"not_found", "refund_unavailable", "refund_requested"}),
        added=True,
    ),
    replace(_get("/orders/{order_id}/refund-requests", record({"items": array(REFUND_REQUEST)})), scene="refund_asked"),
    replace(_get("/orders/{order_id}/evidence", record({"evidence": EVIDENCE, "jws": STRING, "keysUrl": STRING})), scene="refund_asked"),
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
