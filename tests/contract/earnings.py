"""What vendors earned, which the specification does not have."""

from .history import PAGING
from .purse import CURRENCY
from .shapes import NUMBER, STRING, TIME, Auth, Operation, array, nullable, one_of, record

LINE = record(
    {
        "at": TIME,
        "kind": one_of("sale", "refund", "payout", "payout_return", "manual_payout", "kept_earnings", "withhold", "release"),
        "amount": NUMBER,
        "currency": CURRENCY,
        "orderId": nullable(STRING),
        "title": nullable(STRING),
    }
)
OPERATIONS = (
    Operation(
        "GET",
        "/vendor/earnings",
        Auth.BEARER,
        "earning",
        record(
            {
                "balances": array(record({"currency": CURRENCY, "balance": NUMBER})),
                "items": array(LINE),
                "nextCursor": nullable(STRING),
            }
        ),
        scope="vendor:manage",
        query=PAGING,
        refusals=frozenset({"vendor_not_approved", "invalid_input"}),
        added=True,
    ),
)
