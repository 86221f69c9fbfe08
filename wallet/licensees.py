"""Reads of purchases for someone else."""

import uuid

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, TextChoices, Value, When
from django.db.models.functions import JSONObject

from library.models import Licence

from .models import Order


class ClaimStatus(TextChoices):
    """Whether the licensee of a purchase has claimed the licence."""

    SENT = "Sent", "The link was sent"
    CLAIMED = "Claimed", "The licensee has it"


def with_licensee(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Return the orders with `licensee`: name, email and claim status, None if it was bought for the buyer."""
    status = Case(When(claimed_at__isnull=True, then=Value(ClaimStatus.SENT.value)), default=Value(ClaimStatus.CLAIMED.value))
    licences = Licence.objects.filter(order_id=OuterRef("pk"), claim_sent_at__isnull=False)
    return orders.annotate(
        licensee=Subquery(licences.values(shown=JSONObject(name=F("licensee_name"), email=F("licensee_email"), status=status)))
    )


def licences_for_others(buyer_id: uuid.UUID) -> QuerySet[Licence]:
    """Return the licences that a user has bought for others."""
    return Licence.objects.filter(order_id__in=Order.objects.filter(buyer=buyer_id).values("pk"), claim_sent_at__isnull=False)
