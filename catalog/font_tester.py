"""Data of the storefront's type tester: font face, variable axes, OpenType features and a sample text."""

from typing import Any

from .models import Preview

TEXT = "The quick brown fox jumps over the lazy dog"
AXES = {"wght": "Weight", "wdth": "Width", "slnt": "Slant", "ital": "Italic", "opsz": "Optical size", "GRAD": "Grade"}
# OpenType features: tag, label, whether it is on by default.
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
    """Return the variable axes of a specimen, each with its label."""
    axes = [] if specimen is None else specimen.details.get("axes", [])
    return [axis | {"label": AXES.get(axis["tag"], axis["tag"])} for axis in axes if axis["min"] < axis["max"]]


def face_of(specimen: Preview) -> str:
    """Return the `@font-face` rule of a specimen, with the widest ranges of weight and width."""
    return f'@font-face {{ font-family: "specimen"; src: url("{specimen.url}"); font-weight: 1 1000; font-stretch: 25% 200%; }}\n'
