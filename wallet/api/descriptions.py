"""Descriptions of field and parameter names that several operations of the wallet share; other fields have a help text."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "approvalId": "Id of the approval.",
    "approval_id": "approvalId of a purchase that waits, or waited, for the owner.",
    "at": "Time of the transaction.",
    "currencyPreference": "The currency in which purchases are paid unless the request names another.",
    "orderId": "Id of the order; null if there is none.",
    "order_id": "orderId of a purchase.",
    "topUpId": "Id of the top-up.",
    "top_up_id": "id of a top-up.",
}
describe = describe_with(DESCRIPTIONS)
