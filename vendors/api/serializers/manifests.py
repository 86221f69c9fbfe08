"""The generated AI manifest."""

from typing import Any

from rest_framework import serializers


class TechnicalRecord(serializers.Serializer[Any]):
    """The technical details of the file."""

    formats = serializers.ListField(child=serializers.CharField(), help_text="Formats of the files.")
    glyphCount = serializers.IntegerField(help_text="Number of glyphs; of several fonts, the largest number; 0 if there is no font.")
    variableAxes = serializers.ListField(child=serializers.CharField(), help_text="Tags of the variable axes, such as wght.")


class ToolSchema(serializers.Serializer[Any]):
    """One thing that an agent can do with the asset."""

    name = serializers.CharField(help_text="Name of the tool.")
    description = serializers.CharField(help_text="What the tool does.")
    inputSchema = serializers.DictField(help_text="A JSON Schema, draft 2020-12.")


class GeneratedManifest(serializers.Serializer[Any]):
    """The structured manifest for agents."""

    version = serializers.CharField()
    assetId = serializers.CharField()
    slug = serializers.CharField()
    category = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    agentGuidance = serializers.CharField(help_text="What an agent should know before it uses the asset.")
    technical = TechnicalRecord()
    toolSchemas = ToolSchema(many=True, help_text="What an agent can do with the asset, as JSON Schemas.")
