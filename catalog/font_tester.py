"""What a type tester needs of a specimen: its face, the axes that can be moved, features to switch, a text."""

from typing import Any

from .models import Preview

TEXT = "The quick brown fox jumps over the lazy dog"
AXES = {"wght": "Weight", "wdth": "Width", "slnt": "Slant", "ital": "Italic", "opsz": "Optical size", "GRAD": "Grade"}
# What a tester offers to switch where a font may have it: the tag and what it does.
FEATURES = (
    ("liga", "Ligatures", True),
    ("kern", "Kerning", True),
    ("smcp", "Small capitals", False),
    ("onum", "Old-style figures", False),
    ("tnum", "Tabular figures", False),
    ("frac", "Fractions", False),
    ("salt", "Alternates", False),
    ("ss01", "Stylistic set 1", False),
    ("ss02", "Stylistic set 2", False),
    ("zero", "Slashed zero", False),
)


def axes_of(specimen: Preview | None) -> list[dict[str, Any]]:
    """Return the axes that can be moved, each with its name."""
    axes = [] if specimen is None else specimen.details.get("axes", [])
    return [axis | {"words": AXES.get(axis["tag"], axis["tag"])} for axis in axes if axis["min"] < axis["max"]]


def face_of(specimen: Preview) -> str:
    """Return the style sheet that names the specimen as a font. Axes are moved within what the file has."""
    return f'@font-face {{ font-family: "specimen"; src: url("{specimen.url}"); font-weight: 1 1000; font-stretch: 25% 200%; }}\n'
