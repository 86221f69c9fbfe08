"""The developer's pages, by noun."""
