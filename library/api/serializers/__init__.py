"""Serializers of the library's responses and queries."""
