"""Serializers of the wallet's request and response bodies."""
