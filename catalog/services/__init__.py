"""Changes of the catalog."""
