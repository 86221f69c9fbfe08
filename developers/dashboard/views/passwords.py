"""Checks the password again before a program may spend money, or money leaves."""

from allauth.core import ratelimit

from marketplace.accounts.pages import SignedInRequest


def password_is_right(request: SignedInRequest, password: str) -> bool:
    """Check the password, as often in a minute as signing in again may be tried."""
    return bool(ratelimit.consume(request, action="reauthenticate", user=request.user)) and request.user.check_password(password)
