"""What the pages do when someone signs in."""

from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

from marketplace.accounts.models import User
from wallet.selectors import currency_preference_of

from .shop.currency import PREFERENCE


@receiver(user_logged_in)
def note_preference(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Put the wallet's currency into the session that begins, so that no page asks for it again."""
    request.session[PREFERENCE] = currency_preference_of(user)
