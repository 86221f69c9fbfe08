"""Advice for the model after a tool call was refused."""

from marketplace.core.errors import Problem

_NEXT = {
    "invalid_input": "Correct the arguments named in errors; the tool's input schema has their types and bounds.",
    "not_found": "Ids and slugs come from search_assets and list_assets; what is no longer sold cannot be found.",
    "not_owned": "Ask the user whether to buy it; buy_asset does, and then the link can be had.",
    "file_blocked": "There is nothing to download; tell the user.",
    "already_owned": "No purchase is needed: get_download_link gives the file.",
    "own_listing": "Tell the user that it is their own; there is nothing to buy.",
    "insufficient_balance": "Tell the user how much is missing, or look for something cheaper with list_assets and maxPrice.",
    "spending_limit_exceeded": "Tell the user; only they can raise the limit, in their dashboard. What `left` still allows may be bought.",
    "price_unavailable": "Call again with a currency of availableCurrencies, if the user agrees to pay in it.",
    "license_not_available": "Call again with one of availableLicenses; get_asset has their prices.",
    "tier_required": "Tell the user that their account's tier does not allow it; list_assets with tier finds what it does.",
    "quote_expired": "Get a new one with quote_purchase, and tell the user its price.",
    "quote_used": "It was bought with this quote already; list_library shows it.",
    "quote_mismatch": "Send the quote with what it was made for, or get a new one with quote_purchase.",
    "too_many_quotes": "Use an open quote, or wait ten minutes.",
    "idempotency_conflict": "Wait a second, then call again with the same arguments.",
    "idempotency_key_reused": "Take a new idempotencyKey for a new purchase; repeat a call with exactly the same arguments.",
}


def next_step(problem: Problem) -> str:
    """Return the advice for a refusal, empty where its own sentence says all."""
    return _NEXT.get(problem.code, "")
