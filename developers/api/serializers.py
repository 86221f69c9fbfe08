"""Shapes of the developers' endpoints."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import ADDRESS_CHARACTER, BoundedList, Choice, Line, Prose
from marketplace.api.serializers import Body, Limit, PageNumber
from marketplace.core import bounds as core_bounds
from marketplace.core.texts import WHITE_SPACE
from marketplace.review.appeals import appealable_of, wait_of_appeal
from marketplace.review.models import Appeal, AppealKind, AppealStatus
from marketplace.review.serializers import QueuePlace, queue_place

from .. import bounds

_WEB_ADDRESS = re.compile(rf"(?:[Hh][Tt][Tt][Pp][Ss]?://{ADDRESS_CHARACTER}*)?")


@extend_schema_field(
    {"type": "string", "pattern": rf"^[{WHITE_SPACE}]*{_WEB_ADDRESS.pattern}[{WHITE_SPACE}]*$", "maxLength": core_bounds.URL_CHARS}
)
class WebAddress(Line):
    """An http(s) address, or an empty string."""

    def to_internal_value(self, data: Any) -> str:
        """Return the address."""
        text = super().to_internal_value(data)
        if not _WEB_ADDRESS.fullmatch(text):
            raise serializers.ValidationError("Enter an address that starts with https:// or http://.", code="invalid")
        return text


class LeakedCredential(Body):
    """A secret, and where it was found."""

    value = Line(max_length=bounds.SECRET_CHARS)
    url = WebAddress(max_length=core_bounds.URL_CHARS, required=False, allow_blank=True, default="")


class LeakReportBody(Body):
    """Credentials that a secret scanner found."""

    credentials = BoundedList(
        child=LeakedCredential(), min_length=1, max_length=bounds.LEAKED_CREDENTIALS, help_text="The keys and tokens that were found."
    )


class LeakReportAnswer(serializers.Serializer[Any]):
    """The number of credentials in the report, not of those that exist."""

    received = serializers.IntegerField(help_text="Number of credentials in the report.")


class AppealQuery(serializers.Serializer[Any]):
    """Which appeals to list."""

    page = PageNumber()
    limit = Limit(default=25, maximum=100)


class AppealBody(Body):
    """What was decided on, and why the decision is wrong."""

    kind = Choice(choices=AppealKind.choices, help_text="What was decided on.")
    subjectId = Line(
        max_length=core_bounds.SLUG_CHARS, help_text="Id of the asset, of the vendor profile, of the app or of the application."
    )
    text = Prose(help_text="Why the decision is wrong.")


class AppealRecord(serializers.Serializer[Appeal]):
    """An appeal."""

    id = serializers.CharField(source="pk")
    kind = serializers.SerializerMethodField(help_text="What was decided on.")
    subjectId = serializers.CharField(source="decision.subject_id", help_text="Its id.")
    decision = serializers.CharField(source="decision.action", help_text="What was decided, such as `listing.takedown`.")
    decisionReason = serializers.CharField(source="decision.reason", help_text="The reason that the reviewer gave.")
    decisionAt = serializers.DateTimeField(source="decision.at", help_text="When it was decided.")
    text = serializers.CharField(help_text="Why the decision is wrong, as you wrote it.")
    status = serializers.ChoiceField(
        AppealStatus.choices, help_text="Pending: it waits for a reviewer; Upheld: the decision stands; Reversed: it was reversed."
    )
    submittedAt = serializers.DateTimeField(source="submitted_at", help_text="When it was sent.")
    answer = serializers.CharField(help_text="The reviewer's reason; empty before the answer.")
    decidedAt = serializers.DateTimeField(source="decided_at", allow_null=True, help_text="When it was answered; null before that.")

    @extend_schema_field(serializers.ChoiceField(choices=AppealKind.choices))
    def get_kind(self, appeal: Appeal) -> str:
        """Return the kind of what was decided on."""
        appealable = appealable_of(appeal.decision)
        return appealable.kind if appealable else ""


class OneAppeal(AppealRecord):
    """An appeal with its place in the queue."""

    queue = serializers.SerializerMethodField(help_text="Its place in the queue; null if it was answered.")

    @extend_schema_field(QueuePlace(allow_null=True))
    def get_queue(self, appeal: Appeal) -> Any:
        """Return the place in the queue."""
        return queue_place(wait_of_appeal(appeal))


class AppealPage(serializers.Serializer[Any]):
    """A page of appeals."""

    total = serializers.IntegerField()
    page = serializers.IntegerField()
    items = AppealRecord(many=True)
