"""What the vendor of the journey sells: a real type family."""

from functools import cache
from pathlib import Path

import font_roboto
from fontTools.ttLib import TTFont

from ..files import makers

FAMILY = sorted(Path(font_roboto.font_directory).glob("*.ttf"))
REGULAR = next(path for path in FAMILY if path.name == "Roboto-Regular.ttf")


@cache
def family_archive() -> bytes:
    """Return the whole family in a zip, with its licence: the same bytes each time, though it names the time."""
    return makers.zipped({f"roboto/{path.name}": path.read_bytes() for path in [*FAMILY, REGULAR.with_name("LICENSE")]})


def specimen() -> bytes:
    """Return the regular weight as WOFF2."""
    font = TTFont(REGULAR)
    font.flavor = "woff2"
    return makers.saved(font)
