"""The positions of licences in the status lists of their certificates."""

from django.db import models

from .licences import Licence


class StatusListPosition(models.Model):
    """The position of a licence in the status lists, which follow one another. It never changes and is not given again."""

    licence = models.OneToOneField(Licence, primary_key=True, on_delete=models.PROTECT, related_name="status_list_position")
    position = models.PositiveIntegerField(unique=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Position {self.position}"
