"""Seals on the ledger: a chain of digests, and which journal is under which."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .ledger import Journal

# Of a SHA-256, in hexadecimal.
DIGEST_CHARS = 64


class LedgerSeal(models.Model):
    """A batch of journals, sealed together with all that were sealed before. Rows are only added."""

    number = models.BigIntegerField(primary_key=True)
    digest = models.CharField(max_length=DIGEST_CHARS)
    # Empty under the first.
    previous_digest = models.CharField(max_length=DIGEST_CHARS, blank=True)
    journals = models.PositiveIntegerField()
    sealed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("previous_digest",), name="ledgerseal_no_fork"),
            models.CheckConstraint(condition=Q(number__gte=1, journals__gte=1), name="ledgerseal_of_something"),
        )

    def __str__(self) -> str:
        return f"{self.number}"


class SealedJournal(models.Model):
    """A journal's place under a seal. It is named, and not told by time: what commits late is sealed later. Rows are only added."""

    journal = models.OneToOneField(Journal, primary_key=True, on_delete=models.PROTECT, related_name="sealed")
    seal = models.ForeignKey(LedgerSeal, on_delete=models.PROTECT, related_name="members", db_index=False)
    position = models.PositiveIntegerField()
    digest = models.CharField(max_length=DIGEST_CHARS)

    class Meta:
        ordering = ("seal", "position")
        constraints = (models.UniqueConstraint(fields=("seal", "position"), name="sealedjournal_place"),)

    def __str__(self) -> str:
        return f"{self.seal_id}.{self.position}"
