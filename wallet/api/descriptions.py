"""Descriptions of fields and parameters of the wallet, by name, for those that have no help text of their own."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "at": "Time of the transaction.",
    "balanceINR": "Balance in rupees.",
    "balanceUSD": "Balance in US dollars.",
    "balances": "What is to be paid out, one entry for each currency.",
    "currencyPreference": "The currency in which purchases are paid unless the request names another.",
    "newBalanceINR": "Balance in rupees after the purchase.",
    "newBalanceUSD": "Balance in US dollars after the purchase.",
    "orderId": "Id of the order; null if there is none.",
    "quoteId": "Id of the quote, for spend.",
    "topUpId": "Id of the top-up.",
    "refundedAt": "Time of the refund; null if it was not refunded.",
}
describe = describe_with(DESCRIPTIONS)
