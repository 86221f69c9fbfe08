"""Adds and removes users' favourites."""

from django.db import transaction

from catalog.models import Listing
from marketplace.accounts.models import User
from marketplace.core.transitions import lock

from .. import bounds
from ..errors import TooManyFavourites
from ..models import Favourite


@transaction.atomic
def add_favourite(*, listing: Listing, actor: User) -> None:
    """Add a listing to the user's favourites; adding it again does nothing.

    Raises:
        NotFound: the account is not active.
        TooManyFavourites: the user has the maximum number.
    """
    # So that the number is not exceeded by two requests at once, and nothing is added while the account is deleted.
    lock(User.objects.filter(is_active=True), pk=actor.pk)
    kept = Favourite.objects.filter(user=actor)
    if kept.filter(listing=listing).exists():
        return
    if kept.count() >= bounds.MAX_FAVOURITES:
        raise TooManyFavourites(maximum=bounds.MAX_FAVOURITES)
    Favourite.objects.create(user=actor, listing=listing)


@transaction.atomic
def remove_favourite(*, listing: Listing, actor: User) -> None:
    """Remove a listing from the user's favourites, if it is one."""
    Favourite.objects.filter(user=actor, listing=listing).delete()
