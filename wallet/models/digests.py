"""The chain of ledger digests, and the journals that each covers."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .ledger import Journal

# A SHA-256 in hexadecimal.
DIGEST_CHARS = 64


class LedgerDigest(models.Model):
    """A digest of a batch of journals and of the previous digest. Append-only."""

    number = models.BigIntegerField(primary_key=True)
    digest = models.CharField(max_length=DIGEST_CHARS)
    # Empty in the first digest.
    previous_digest = models.CharField(max_length=DIGEST_CHARS, blank=True)
    journals = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("previous_digest",), name="ledgerdigest_no_fork"),
            models.CheckConstraint(condition=Q(number__gte=1, journals__gte=1), name="ledgerdigest_not_empty"),
        )

    def __str__(self) -> str:
        return f"{self.number}"


class CoveredJournal(models.Model):
    """A journal covered by a digest, listed explicitly because late commits are covered by later digests. Append-only."""

    journal = models.OneToOneField(Journal, primary_key=True, on_delete=models.PROTECT, related_name="covered")
    ledger_digest = models.ForeignKey(LedgerDigest, on_delete=models.PROTECT, related_name="members", db_index=False)
    position = models.PositiveIntegerField()
    digest = models.CharField(max_length=DIGEST_CHARS)

    class Meta:
        ordering = ("ledger_digest", "position")
        constraints = (models.UniqueConstraint(fields=("ledger_digest", "position"), name="coveredjournal_place"),)

    def __str__(self) -> str:
        return f"{self.ledger_digest_id}.{self.position}"
