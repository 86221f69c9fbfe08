"""Errors about accounts."""

from marketplace.core.errors import Problem


class AccountInUse(Problem):
    """409: something of the account must be settled before it can be deleted."""

    status = 409
    title = "The account is still in use"
    detail = "Resolve what the detail names, then delete the account."
