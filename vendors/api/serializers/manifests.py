"""The generated agent manifest (reference section 2)."""

from typing import Any

from rest_framework import serializers


class TechnicalRecord(serializers.Serializer[Any]):
    """The technical details of the file."""

    formats = serializers.ListField(child=serializers.CharField())
    glyphCount = serializers.IntegerField()
    variableAxes = serializers.ListField(child=serializers.CharField())


class ToolSchema(serializers.Serializer[Any]):
    """One thing that an agent can do with the asset."""

    name = serializers.CharField()
    description = serializers.CharField()
    inputSchema = serializers.DictField(help_text="A JSON Schema, draft 2020-12.")


class GeneratedManifest(serializers.Serializer[Any]):
    """The structured manifest for agents."""

    version = serializers.CharField()
    assetId = serializers.CharField()
    slug = serializers.CharField()
    category = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    agentGuidance = serializers.CharField()
    technical = TechnicalRecord()
    toolSchemas = ToolSchema(many=True)
