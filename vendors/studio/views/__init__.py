"""The vendor's pages."""
