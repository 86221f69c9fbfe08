"""Assigns each licence that has a verifiable credential its position in a status list."""

import secrets

from django.db import transaction
from django.db.models import Max

from .. import bounds
from ..models import Licence, StatusListPosition

_TRIES = 8


@transaction.atomic
def status_list_position(*, licence: Licence) -> int:
    """Return the position of a licence in the status lists; the first call gives it one.

    Positions are random: from sequential ones, a buyer of two licences could tell how many were sold in between.
    """
    of_licence = StatusListPosition.objects.filter(licence=licence)
    given = of_licence.first()
    if given is None:
        newest = StatusListPosition.objects.aggregate(newest=Max("position"))["newest"] or 0
        start = newest - newest % bounds.STATUS_LIST_LENGTH
        # Each row is a try for the same licence, which is unique: the first with a free position is inserted, and all others conflict. The next list is used when the newest one is nearly full.
        starts = [start] * _TRIES + [start + bounds.STATUS_LIST_LENGTH] * _TRIES
        tries = [StatusListPosition(licence=licence, position=each + secrets.randbelow(bounds.STATUS_LIST_LENGTH)) for each in starts]
        StatusListPosition.objects.bulk_create(tries, ignore_conflicts=True)
        given = of_licence.get()
    return given.position
