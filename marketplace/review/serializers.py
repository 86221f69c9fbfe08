"""The place in a queue of a review, as API responses show it."""

from typing import Any

from rest_framework import serializers

from .waiting import Wait


class QueuePlace(serializers.Serializer[Wait]):
    """A place in the queue of a review."""

    position = serializers.IntegerField(help_text="Position in the queue, from 1.")
    usualHours = serializers.IntegerField(
        source="usual_hours",
        allow_null=True,
        help_text="Median time of the last 20 decisions, in hours; null before the first decision.",
    )


def queue_place(wait: Wait | None) -> dict[str, Any] | None:
    """Return the place in the queue, None for what does not wait."""
    return None if wait is None else dict(QueuePlace(wait).data)
