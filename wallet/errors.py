"""Refusals of the wallet."""

from marketplace.core.errors import Problem


class InsufficientBalance(Problem):
    """402: `price`, `balance` and `currency` say how far it is."""

    status = 402
    title = "The wallet balance is too low"
    detail = "Add credit, then send the request again."


class TierRequired(Problem):
    """403: `requiredTier` names the tier that the listing demands."""

    status = 403
    title = "A higher tier is needed to buy this asset"


class PriceUnavailable(Problem):
    """409: `availableCurrencies` names those in which there is a price."""

    status = 409
    title = "The asset has no price in this currency"


class LicenseNotAvailable(Problem):
    """409: `availableLicenses` names the tiers on sale."""

    status = 409
    title = "The asset is not sold under this licence"


class OwnListing(Problem):
    """409: nobody buys from themselves."""

    status = 409
    title = "This listing is your own"
    detail = "Vendors cannot buy what they sell."


class IdempotencyConflict(Problem):
    """409: the first request with the key has not been answered yet."""

    status = 409
    title = "A request with this Idempotency-Key is still in progress"
    detail = "Send the request again after the number of seconds in Retry-After."


class IdempotencyKeyReused(Problem):
    """422: the key belongs to another request."""

    status = 422
    title = "The Idempotency-Key was used for another request"
    detail = "Use a new key for a new purchase, and repeat a request with exactly the same body."


class InvalidAmount(Problem):
    """400: an amount that cannot be credited."""

    status = 400
    title = "The amount cannot be credited"
