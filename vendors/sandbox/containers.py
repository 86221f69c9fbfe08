"""Detects file types that are zip archives inside, by their characteristic members."""

from collections.abc import Iterable

# All of a row's names must be there.
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
WANTED = frozenset().union(*(names for _, names in KINDS))


def kind_of(names: Iterable[str]) -> str:
    """Return which kind the members, by their lower-case names, make it; an empty string for an archive as such."""
    there = set(names)
    return next((kind for kind, needed in KINDS if needed <= there), "")
