"""The text that a buyer agrees to at the checkout, which is kept with the order."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WithdrawalConsent:
    """A sentence about delivery and withdrawal.

    Args:
        version: Changes with the sentence.
        text: The sentence.
    """

    version: str
    text: str


WITHDRAWAL_CONSENT = WithdrawalConsent(
    "2026-11", "By paying you ask us to deliver at once, and accept that your right of withdrawal ends when you first download the file."
)
