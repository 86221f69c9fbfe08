"""The names of categories for packages below the catalog, which may not import it: the catalog registers a source at start-up."""

from collections.abc import Callable

Source = Callable[[], list[tuple[str, str]]]
_sources: list[Source] = []


def register_source(source: Source) -> None:
    """Register `source`, which returns slug and name of each active category; registering it again has no effect."""
    if source not in _sources:
        _sources.append(source)


def category_names() -> list[tuple[str, str]]:
    """Return slug and name of each active category."""
    return [name for source in _sources for name in source()]
