"""Detects file types whose files are zip archives, by their characteristic members."""

from collections.abc import Iterable

# An archive is of a kind when it contains all names of the row.
KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("mogrt", frozenset({"definition.json", "project.aegraphic"})),
    ("mogrt", frozenset({"definition.json", "project.prgraphic"})),
    ("sketch", frozenset({"document.json", "meta.json", "user.json"})),
    ("procreate", frozenset({"document.archive", "quicklook/thumbnail.png"})),
    ("figma", frozenset({"canvas.fig", "meta.json"})),
    ("idml", frozenset({"designmap.xml", "mimetype"})),
    ("krita", frozenset({"maindoc.xml", "mimetype"})),
    ("openraster", frozenset({"stack.xml", "mimetype"})),
    ("office", frozenset({"[content_types].xml"})),
    ("jar", frozenset({"meta-inf/manifest.mf"})),
    ("skill", frozenset({"skill.md"})),
)
CHARACTERISTIC_NAMES = frozenset().union(*(names for _, names in KINDS))


def kind_of(names: Iterable[str]) -> str:
    """Return the kind of file that an archive with these members is, an empty string for an ordinary archive; names are lower-case."""
    there = set(names)
    return next((kind for kind, needed in KINDS if needed <= there), "")
