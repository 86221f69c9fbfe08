"""Records of uploaded files."""

from typing import Any

import orjson
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, Preview
from catalog.models.files import DeliverableStatus, PreviewKind
from catalog.selectors.listings import deliverable_status
from marketplace.api.fields import BodyInteger, Line
from marketplace.api.serializers import Body, PageSerializer, QueryInteger


class DeliverableRecord(serializers.Serializer[Deliverable]):
    """A deliverable file."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    originalFilename = serializers.CharField(source="original_filename")
    fileSize = serializers.IntegerField(source="file_size")
    checksum = serializers.CharField(source="sha256", help_text="SHA-256 in hex digits.")
    technicalJson = serializers.SerializerMethodField(help_text="JSON text of what was found inside.")

    def get_technicalJson(self, deliverable: Deliverable) -> str:
        # Sorted, because PostgreSQL does not preserve the order of keys in jsonb.
        return orjson.dumps(deliverable.technical, option=orjson.OPT_SORT_KEYS).decode()


class FileVersion(serializers.Serializer[Any]):
    """A file in a listing's history; `context` holds the listing."""

    id = serializers.CharField()
    version = serializers.CharField(help_text="The version under which it was approved; empty before that.")
    originalFilename = serializers.CharField(source="original_filename")
    fileSize = serializers.IntegerField(source="file_size")
    checksum = serializers.CharField(source="sha256", help_text="SHA-256 in hex digits.")
    uploadedAt = serializers.DateTimeField(source="uploaded_at", help_text="Time of the upload.")
    approvedAt = serializers.DateTimeField(source="approved_at", allow_null=True, help_text="Time of the approval; null before that.")
    status = serializers.SerializerMethodField(
        help_text="live: what buyers get; candidate: not approved; superseded: no longer used, usually approved earlier; blocked: cannot be downloaded."
    )

    @extend_schema_field(serializers.ChoiceField(choices=DeliverableStatus.choices))
    def get_status(self, deliverable: Deliverable) -> str:
        return deliverable_status(deliverable, self.context["listing"]).value


class FilePage(PageSerializer):
    """A page of a listing's files."""

    items = FileVersion(many=True)


class PreviewRecord(serializers.Serializer[Preview]):
    """A public sample; `sortOrder` and `altText` are there for gallery images only."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    kind = serializers.ChoiceField(choices=PreviewKind.choices)
    sortOrder = serializers.IntegerField(source="slot", required=False)
    url = serializers.CharField()
    altText = serializers.CharField(
        source="alt_text",
        required=False,
        help_text="What the picture shows, for people who cannot see it; empty where there is no description.",
    )

    def to_representation(self, instance: Preview) -> dict[str, Any]:
        """Return the record without the fields that do not apply to its kind."""
        record = super().to_representation(instance)
        if instance.kind != PreviewKind.GALLERY:
            del record["sortOrder"], record["altText"]
        return record


class PicturePatch(Body):
    """Body of PATCH of a gallery image: a field left out keeps its value."""

    ignored_fields = frozenset(PreviewRecord().fields)

    altText = Line(
        source="alt_text",
        max_length=catalog_bounds.ALT_TEXT_CHARS,
        required=False,
        allow_blank=True,
        help_text="What the picture shows, for people who cannot see it; an empty text removes the description.",
    )
    sortOrder = BodyInteger(
        source="slot",
        min_value=0,
        max_value=catalog_bounds.GALLERY_SLOTS - 1,
        required=False,
        help_text="The slot to move it to; a picture that is there takes its place.",
    )


class GallerySlot(serializers.Serializer[Any]):
    """Query of a gallery upload."""

    slot = QueryInteger(min_value=0, max_value=catalog_bounds.GALLERY_SLOTS - 1)
