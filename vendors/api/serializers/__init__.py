"""Serializers of the vendor API's request and response bodies."""
