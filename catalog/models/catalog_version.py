"""The version of the public catalog."""

from django.db import models


class CatalogVersion(models.Model):
    """A single row, whose value is replaced by a random one in every transaction that changes a public response.

    Purchases do not replace it; a run that counts some does so once. Its lock, held until the commit, serialises changes of the catalog and its indexes.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    value = models.CharField(max_length=32)

    class Meta:
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="catalogversion_one_row"),)

    def __str__(self) -> str:
        return self.value
