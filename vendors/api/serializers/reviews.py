"""Submissions: the checks before them and their outcome."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.models import Listing, ListingReview
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.models.reviews import ReviewKind, ReviewStatus
from catalog.selectors.reviews import wait_of_review
from marketplace.api.serializers import PageSerializer
from marketplace.review.serializers import QueuePlace, queue_place


class CheckRecord(serializers.Serializer[Any]):
    """One automated check and its outcome."""

    name = serializers.CharField(help_text="Name of the check.")
    passed = serializers.BooleanField()
    detail = serializers.CharField()
    warning = serializers.CharField(
        help_text="What could be better although the check passed; empty if nothing. It does not prevent a submission."
    )


class FindingRecord(serializers.Serializer[Any]):
    """One thing that a reviewer asks to be changed."""

    code = serializers.CharField()
    field = serializers.CharField(help_text="The field that it is about; empty if it is about the whole listing.")
    message = serializers.CharField()
    hint = serializers.CharField()


class ReviewedFile(serializers.Serializer[Any]):
    """The file that was submitted."""

    id = serializers.CharField()
    originalFilename = serializers.CharField()
    fileSize = serializers.IntegerField()
    checksum = serializers.CharField(help_text="SHA-256 in hex digits.")


class ReviewRecord(serializers.Serializer[Any]):
    """One submission, takedown or restoration."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=ReviewKind.choices)
    status = serializers.ChoiceField(choices=ReviewStatus.choices)
    submittedAt = serializers.DateTimeField(source="submitted_at")
    decidedAt = serializers.DateTimeField(source="decided_at", allow_null=True, help_text="Time of the decision; null before that.")
    file = serializers.SerializerMethodField(help_text="The submitted file; null if there was none.")
    checks = CheckRecord(many=True)
    findings = FindingRecord(many=True, help_text="What has to be fixed; empty for an approval.")
    note = serializers.CharField(help_text="The reviewer's note in addition to the findings.")
    queue = serializers.SerializerMethodField(help_text="Its place in the queue; null if it is not waiting.")

    @extend_schema_field(ReviewedFile(allow_null=True))
    def get_file(self, review: ListingReview) -> dict[str, Any] | None:
        file: dict[str, Any] | None = review.snapshot.get("file")
        return file

    @extend_schema_field(QueuePlace(allow_null=True))
    def get_queue(self, review: ListingReview) -> dict[str, Any] | None:
        return queue_place(wait_of_review(review))


class ReviewPage(PageSerializer):
    """A page of submissions."""

    items = ReviewRecord(many=True)


class Preflight(serializers.Serializer[Any]):
    """The checks that submitting would make."""

    passed = serializers.BooleanField()
    checks = CheckRecord(many=True)


class ListingStatusResponse(serializers.Serializer[Any]):
    """The status of a listing after a step; `updateStatus` is present for published listings only, null if nothing is in review."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=ListingStatus.choices)
    updateStatus = serializers.ChoiceField(
        source="update_status",
        choices=[UpdateStatus.PENDING_REVIEW.value],
        allow_null=True,
        required=False,
    )

    def to_representation(self, instance: Listing) -> dict[str, Any]:
        """Return the record; only that of a published listing has `updateStatus`."""
        record = super().to_representation(instance)
        record["updateStatus"] = instance.update_status or None
        if instance.status != ListingStatus.PUBLISHED:
            del record["updateStatus"]
        return record


class SubmittedResponse(ListingStatusResponse):
    """The status of a listing after its submission."""

    submittedAt = serializers.DateTimeField(source="submitted_at")
