"""Advice for the model after a tool call was refused."""

from marketplace.core.errors import Problem
from wallet.bounds import QUOTE_MINUTES

_NEXT = {
    "invalid_input": "Correct the arguments named in errors; the tool's input schema has their types and bounds.",
    "not_found": "Get ids and slugs from search_assets or list_assets. Assets that are no longer on sale are not found.",
    "not_owned": "Ask the user whether to buy it with buy_asset; after that the link is available.",
    "file_blocked": "There is nothing to download; tell the user.",
    "licence_suspended": "Tell the user: their bank disputes the payment for it. The download works again if that is decided in our favour.",
    "already_owned": "No purchase is needed: get_download_link gives the file.",
    "own_listing": "Tell the user that this is their own listing, so they can't buy it.",
    "insufficient_balance": "Tell the user how much is missing, offer to ask for it with request_top_up, or look for something cheaper with "
    "list_assets and maxPrice.",
    "spending_limit_exceeded": "Tell the user; only they can raise the limit, in their dashboard. Purchases within `left` are still possible.",
    "price_unavailable": "If the user agrees to pay in it, call again with one of availableCurrencies.",
    "license_not_available": "Call again with one of availableLicenses; get_asset has their prices.",
    "tier_required": "Tell the user that their account's tier doesn't allow it; list_assets with tier finds assets that it allows.",
    "quote_expired": "Get a new one with quote_purchase, and tell the user its price.",
    "quote_used": "It has already been bought with this quote; list_library shows it.",
    "quote_mismatch": "Use the quote for the asset, licence and currency that it was made for, or get a new one with quote_purchase.",
    "too_many_quotes": f"Use an open quote, or wait {QUOTE_MINUTES} minutes.",
    "invalid_amount": "Ask for a larger amount.",
    "top_up_unavailable": "If the user agrees, ask for one of availableCurrencies.",
    "top_up_limit_exceeded": "Ask for `left` or less, if the user agrees; only the operator can raise the limit.",
    "too_many_top_ups": "Let the user pay on a page that is open already, or wait until one closes.",
    "payment_provider_unavailable": "Call again in a minute with the same arguments.",
    "idempotency_conflict": "Wait a second, then call again with the same arguments.",
    "idempotency_key_reused": "Use a new idempotencyKey for a new purchase; to repeat a call, send exactly the same arguments.",
}


def next_step(problem: Problem) -> str:
    """Return the advice for a refusal, empty if its own message is enough."""
    return _NEXT.get(problem.code, "")
