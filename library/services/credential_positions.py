"""Assigns each verifiable credential its position in a status list."""

import secrets

from django.db import transaction
from django.db.models import Max

from .. import bounds
from ..models import CredentialPosition, Licence

_TRIES = 8


@transaction.atomic
def credential_position(*, licence: Licence) -> int:
    """Return the position of a licence's credential in the status lists; the first call gives it one.

    Positions are random: from sequential ones, a buyer of two licences could tell how many were sold in between.
    """
    of_licence = CredentialPosition.objects.filter(licence=licence)
    given = of_licence.first()
    if given is None:
        newest = CredentialPosition.objects.aggregate(newest=Max("position"))["newest"] or 0
        start = newest - newest % bounds.STATUS_LIST_LENGTH
        # The first position that is free is taken, in the next list if none of the tries in the newest one is.
        starts = [start] * _TRIES + [start + bounds.STATUS_LIST_LENGTH] * _TRIES
        tries = [CredentialPosition(licence=licence, position=each + secrets.randbelow(bounds.STATUS_LIST_LENGTH)) for each in starts]
        CredentialPosition.objects.bulk_create(tries, ignore_conflicts=True)
        given = of_licence.get()
    return given.position
