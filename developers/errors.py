"""Refusals of developer access."""

from marketplace.core.errors import Problem


class AppNotApproved(Problem):
    """409: the app has no grant yet, or is suspended."""

    status = 409
    title = "The app is not approved"
    detail = "A key can be made once an admin has approved the app."


class ScopeNotAvailable(Problem):
    """400: an app cannot have this scope."""

    status = 400
    title = "The scope cannot be granted here"


class ExpiryRequired(Problem):
    """400: a personal token must end within a year."""

    status = 400
    title = "An expiry within one year is needed"
