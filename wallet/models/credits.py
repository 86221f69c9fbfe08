"""What names a payment elsewhere for which a wallet was credited."""

from django.db import models
from django.db.models import Q

from marketplace.core import bounds

from .ledger import Journal


class CreditReference(models.Model):
    """The one credit that a payment made, such as a bank transfer by its number. Rows are only added."""

    journal = models.OneToOneField(Journal, primary_key=True, on_delete=models.PROTECT, related_name="credit_reference")
    # Whose number it is: those of two banks may be alike.
    source = models.CharField(max_length=bounds.CREDIT_SOURCE_CHARS)
    reference = models.CharField(max_length=bounds.PAYMENT_REFERENCE_CHARS)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("source", "reference"), name="creditreference_once"),
            models.CheckConstraint(condition=~Q(source="") & ~Q(reference=""), name="creditreference_of_something"),
        )

    def __str__(self) -> str:
        return f"{self.reference} ({self.source})"
