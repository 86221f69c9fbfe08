"""Records of uploaded files (reference section 2)."""

from typing import Any

import orjson
from rest_framework import serializers

from catalog.models import Deliverable, Preview
from catalog.models.files import PreviewKind
from marketplace.core import bounds


class DeliverableRecord(serializers.Serializer[Deliverable]):
    """A deliverable file."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    originalFilename = serializers.CharField(source="original_filename")
    fileSize = serializers.IntegerField(source="file_size")
    checksum = serializers.CharField(source="sha256", help_text="SHA-256 in hex digits.")
    technicalJson = serializers.SerializerMethodField(help_text="JSON text of what was found inside.")

    def get_technicalJson(self, deliverable: Deliverable) -> str:
        """Return the JSON text."""
        # Sorted: PostgreSQL keeps objects in an order of its own.
        return orjson.dumps(deliverable.technical, option=orjson.OPT_SORT_KEYS).decode()


class PreviewRecord(serializers.Serializer[Preview]):
    """A public sample; `sortOrder` is there for gallery images only."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    kind = serializers.ChoiceField(choices=PreviewKind.choices)
    sortOrder = serializers.IntegerField(source="slot", required=False)
    url = serializers.CharField()

    def to_representation(self, instance: Preview) -> dict[str, Any]:
        """Return the record without a slot where the kind has none."""
        record = super().to_representation(instance)
        if instance.kind != PreviewKind.GALLERY:
            del record["sortOrder"]
        return record


class GallerySlot(serializers.Serializer[Any]):
    """Query of a gallery upload."""

    slot = serializers.IntegerField(min_value=0, max_value=bounds.GALLERY_SLOTS - 1)
