"""Problems of the library."""

from marketplace.core.errors import Problem

from . import bounds


class AlreadyOwned(Problem):
    """409: the buyer, or whoever the licence is for, has an unrevoked licence of the tier `licenseSlug` of `assetId`, or of any if the request names none."""

    status = 409
    title = "You already own this asset"
    detail = "You have this licence, or an upgrade of it; nothing was charged. To buy another licence tier, name that tier."
    # Instead of `detail`, when a licence is bought for a licensee, or claimed.
    by_licensee = "It was bought for this licensee already; nothing was charged. To buy another licence tier, name that tier."
    by_claimant = "You have this licence already. Claim it with another account, or ask whoever paid for it to have it refunded."


class LicenseNotUpgradable(Problem):
    """409: the licence to upgrade was revoked, replaced or suspended meanwhile."""

    status = 409
    title = "The licence can no longer be upgraded"
    detail = "It was refunded, upgraded or suspended in the meantime. Nothing was charged."


class NotOwned(Problem):
    """403: the caller holds no current licence."""

    status = 403
    title = "You do not own this asset"
    detail = "You have no such licence for it, or none that covers this version. Refunded purchases don't count."


class LicenseSuspended(Problem):
    """403: the payment for the licence is disputed."""

    status = 403
    title = "The licence is suspended"
    detail = "A card payment behind it is disputed. You can download again once the dispute is over, if the licence stays."


class ClaimEnded(Problem):
    """410: the link was used, has expired, or its purchase was refunded or charged back."""

    status = 410
    title = "This link can no longer be used"
    detail = "Whoever paid for the licence can send you a new one, unless their account is deleted."


class FileBlocked(Problem):
    """410: a reviewer marked the file as malicious."""

    status = 410
    title = "The file was blocked"
    detail = "A reviewer marked it as malicious, so it can no longer be downloaded."


class LinkInvalid(Problem):
    """404: the token is malformed, unknown or was altered."""

    status = 404
    title = "This download link is not valid"
    detail = "Use the link exactly as you received it, or request a new one."


class LinkExpired(Problem):
    """410: the link has expired."""

    status = 410
    title = "This download link has expired"
    detail = f"Request a new one; links are valid for {bounds.DOWNLOAD_LINK_SECONDS // 60} minutes."


class LinkRevoked(Problem):
    """410: the licence was revoked or replaced by an upgrade, or the account was deactivated or deleted."""

    status = 410
    title = "This download link was revoked"
    detail = "Its licence is no longer valid, or its account was deactivated or deleted."


class TooManyFavourites(Problem):
    """409: the user already has `maximum` favourites."""

    status = 409
    title = "You have too many favourites"
    detail = "Remove one first."
