"""Data of the storefront's type tester: the styles of a family, variable axes, OpenType features, sample texts, glyph map and languages."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .font_samples import LATIN, Sample, samples_for
from .models import FilePreview, Preview
from .models.files import FilePreviewKind

PANGRAM = "The quick brown fox jumps over the lazy dog"
AXES = {"wght": "Weight", "wdth": "Width", "slnt": "Slant", "ital": "Italic", "opsz": "Optical size", "GRAD": "Grade"}
# OpenType features: tag, label, whether it is on by default.
FEATURES = (
    ("liga", "Ligatures", True),
    ("kern", "Kerning", True),
    ("calt", "Contextual alternates", True),
    ("dlig", "Discretionary ligatures", False),
    ("smcp", "Small capitals", False),
    ("case", "Case-sensitive forms", False),
    ("onum", "Old-style figures", False),
    ("lnum", "Lining figures", False),
    ("tnum", "Tabular figures", False),
    ("frac", "Fractions", False),
    ("zero", "Slashed zero", False),
    ("salt", "Alternates", False),
    ("ss01", "Stylistic set 1", False),
    ("ss02", "Stylistic set 2", False),
    ("ss03", "Stylistic set 3", False),
)
SPECIMEN = "specimen"
# The glyph map of a vendor's specimen, whose characters are not recorded.
SPECIMEN_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Style(NamedTuple):
    """A style of a family as the tester loads it; `font` is its family name in the stylesheet."""

    font: str
    label: str
    url: str
    axes: Sequence[dict[str, Any]]
    details: dict[str, Any]

    @property
    def tags(self) -> str:
        """The tags of its axes, separated by spaces."""
        return " ".join(axis["tag"] for axis in self.axes)


class Tester(NamedTuple):
    """What the type tester shows; the first style is shown first."""

    styles: Sequence[Style]
    features: Sequence[tuple[str, str, bool]]
    samples: Sequence[Sample]
    # The characters of the glyph map.
    characters: str
    languages: Sequence[str]
    # Whether it shows the vendor's specimen, because no previews of the file exist yet.
    is_specimen: bool

    @property
    def axes(self) -> list[dict[str, Any]]:
        """The axes of all styles, each as in the first style that has it."""
        axes: dict[str, dict[str, Any]] = {}
        for style in self.styles:
            for axis in style.axes:
                axes.setdefault(axis["tag"], axis)
        return list(axes.values())

    @property
    def styles_of_file(self) -> int:
        """How many styles the file holds: more than the tester where they are many or large."""
        stated: int = self.styles[0].details.get("stylesOfFile", 0)
        return max(len(self.styles), stated)

    @property
    def version(self) -> str:
        """The version in the stylesheet's address, which changes with the fonts."""
        return self.styles[0].url.rpartition("/")[2]

    @property
    def stylesheet(self) -> str:
        """The `@font-face` rules of the styles, with the widest ranges of weight and width, and a class for each."""
        return "".join(
            f'@font-face {{ font-family: "{style.font}"; src: url("{style.url}"); font-weight: 1 1000; font-stretch: 25% 200%; '
            f"font-display: swap; }}\n"
            f'.{style.font} {{ font-family: "{style.font}", var(--sans); }}\n'
            for style in self.styles
        )


def type_tester_of(specimen: Preview | None, file_previews: Iterable[FilePreview] = ()) -> Tester | None:
    """Return the tester of a family: the previews of its styles if there are any, else the specimen; None without either."""
    style_previews = sorted((each for each in file_previews if each.kind == FilePreviewKind.FONT_STYLE), key=_sort_key)
    if style_previews:
        first = style_previews[0].details
        styles = [
            Style(f"style-{number}", _label(each.details), each.url, _axes(each.details), each.details)
            for number, each in enumerate(style_previews)
        ]
        tags = {tag for each in style_previews for tag in each.details["features"]}
        features = [feature for feature in FEATURES if feature[0] in tags]
        return Tester(styles, features, _samples(first), first["characters"], first["languages"], is_specimen=False)
    if specimen is None:
        return None
    style = Style(SPECIMEN, _label(specimen.details), specimen.url, _axes(specimen.details), specimen.details)
    return Tester([style], FEATURES, _samples(specimen.details), SPECIMEN_CHARACTERS, (), is_specimen=True)


def _sort_key(preview: FilePreview) -> tuple[Any, ...]:
    """Return what styles are sorted by: upright ones from thin to black, then italics, with the regular style before all."""
    details = preview.details
    regular = not details["italic"] and details["weight"] == 400
    return not regular, details["italic"], details["weight"], preview.position


def _label(details: dict[str, Any]) -> str:
    family = ", ".join(details.get("familyNames", ()))
    return f"{family} {details.get('style', '')}".strip() or "Specimen"


def _axes(details: dict[str, Any]) -> list[dict[str, Any]]:
    axes = details.get("axes", [])
    return [axis | {"label": AXES.get(axis["tag"], axis["tag"])} for axis in axes if axis["min"] < axis["max"]]


def _samples(details: dict[str, Any]) -> list[Sample]:
    return [
        Sample("Pangram", PANGRAM),
        *(each for each in samples_for(details.get("unicodeRanges", ())) if each.text != LATIN),
        Sample("All kinds", LATIN),
    ]
