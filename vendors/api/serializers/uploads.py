"""Resumable uploads."""

from rest_framework import serializers

from marketplace.api.serializers import PageSerializer

from ...models import Upload


class UploadRecord(serializers.Serializer[Upload]):
    """A resumable upload."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    originalFilename = serializers.CharField(source="filename")
    fileSize = serializers.IntegerField(source="size")
    offset = serializers.IntegerField(help_text="Bytes that have arrived.")
    expiresAt = serializers.DateTimeField(
        source="expires_at",
        help_text="When it expires unless another part arrives. After that it is not found, and it is deleted within a day.",
    )
    url = serializers.CharField(help_text="Where parts are sent by the tus protocol, relative to the service.")
    fileId = serializers.CharField(
        source="deliverable_id", allow_null=True, help_text="Id of the file that it was finished as; null before that."
    )


class UploadPage(PageSerializer):
    """A page of resumable uploads."""

    items = UploadRecord(many=True)
