"""A tool call beside its twin in the API."""
