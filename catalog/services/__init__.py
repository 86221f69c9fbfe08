"""Every change of the catalog."""
