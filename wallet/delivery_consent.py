"""The text that a buyer agrees to at the checkout, which is kept with the order."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DeliveryConsent:
    """The buyer's consent to delivery at once, by which the buyer's legal right to withdraw from the purchase ends with the first download.

    The version changes with the text.
    """

    version: str
    text: str


IMMEDIATE_DELIVERY = DeliveryConsent(
    "2026-11", "By paying you ask us to deliver at once, and accept that your right of withdrawal ends when you first download the file."
)
