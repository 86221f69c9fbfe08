"""The positions of verifiable credentials in the status lists."""

from django.db import models

from .licences import Licence


class CredentialPosition(models.Model):
    """The position of a licence's credential in the status lists, which follow one another. It never changes and is not given again."""

    licence = models.OneToOneField(Licence, primary_key=True, on_delete=models.PROTECT, related_name="credential_position")
    position = models.PositiveIntegerField(unique=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Position {self.position}"
