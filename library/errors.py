"""Refusals of the library."""

from marketplace.core.errors import Problem


class AlreadyOwned(Problem):
    """409: the buyer holds a live licence."""

    status = 409
    title = "You own this asset already"
    detail = "It is in your library; nothing was charged. For another licence tier name it in licenseSlug."


class NotOwned(Problem):
    """403: the caller holds no live licence."""

    status = 403
    title = "You do not own this asset"
    detail = "Buy it first; a refunded purchase no longer counts."


class FileBlocked(Problem):
    """410: a reviewer marked the file as malicious."""

    status = 410
    title = "The file was withdrawn"
    detail = "A reviewer marked it as harmful, so it is not handed out any more."


class LinkInvalid(Problem):
    """404: not a link of ours, or tampered with."""

    status = 404
    title = "This download link is not valid"
    detail = "Use the link exactly as it was given, or ask for a new one."


class LinkExpired(Problem):
    """410: past `expiresAt`."""

    status = 410
    title = "This download link has expired"
    detail = "Ask for a new one; links are valid for 15 minutes."


class LinkRevoked(Problem):
    """410: the licence behind the link was refunded, or the account closed."""

    status = 410
    title = "This download link was revoked"
    detail = "The licence behind it no longer stands."
