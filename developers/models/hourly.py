"""The calls of the last hours, for the chart of a day."""

from django.db import models

from .apps import App
from .usage import OPERATION_CHARS


class HourlyUsage(models.Model):
    """How many calls one caller made to one operation in one hour (UTC), with one outcome. `ApiUsage` keeps the days."""

    hour = models.DateTimeField()
    app = models.ForeignKey(App, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=16)
    credential_id = models.UUIDField()
    operation = models.CharField(max_length=OPERATION_CHARS)
    status = models.PositiveSmallIntegerField()
    calls = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("-hour", "operation", "status")
        verbose_name_plural = "hourly API usage"
        constraints = (models.UniqueConstraint(fields=("hour", "kind", "credential_id", "operation", "status"), name="hourlyusage_once"),)
        indexes = (
            models.Index(fields=("app", "hour"), name="hourlyusage_app_hour"),
            models.Index(fields=("credential_id", "hour"), name="hourlyusage_credential_hour"),
        )

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H} {self.operation} {self.status}"
