"""Services that move money."""
