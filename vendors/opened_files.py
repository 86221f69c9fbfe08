"""Views of stored files for reviewers, without a download: files inside archives, and drawings of glyphs."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from marketplace.storage.base import ObjectStorage

from .previews import AUDIO_TYPES, WEBP
from .sandbox.runner import Limits, reader_of, run_in_sandbox
from .sandbox.sniffing import sniff

LIMITS = Limits(cpu_seconds=40, wall_seconds=90)
SOUND_TYPES = AUDIO_TYPES | {"flac": "audio/flac", "ogg": "audio/ogg"}
MAX_GLYPHS = 24
# The size of a cell in pixels, and the most columns, of a sheet of glyphs.
CELL_WIDTH, CELL_HEIGHT, MAX_COLUMNS = 120, 150, 4
_PATH = re.compile(r"[MLHVCQZ0-9., -]{0,20000}")


class OpenedFile(NamedTuple):
    """A file inside an archive as it is shown: a `picture`, `font` or `sound`, or the beginning of a `text` if it is `truncated`."""

    kind: str
    content_type: str
    content: bytes
    truncated: bool = False


class Drawing(NamedTuple):
    """A glyph as an SVG path in units of the font, with its advance width."""

    path: str
    width: float


class Drawings(NamedTuple):
    """Glyphs of one font by name, and its ascent and descent in units of the font."""

    ascent: float
    descent: float
    glyphs: Mapping[str, Drawing]


def open_entry(*, storage: ObjectStorage, key: str, size: int, path: str) -> OpenedFile:
    """Return a file inside a stored archive, made safe by the confined process: pictures are re-encoded, fonts sanitized.

    Raises:
        UnsupportedType: there is no such file, or it is of another kind.
        FileRejected: it is damaged.
        DependencyUnavailable: too many files are being inspected, the child cannot be started or was killed, or the file store cannot be read.
    """
    return run_in_sandbox("open", read_at=reader_of(storage, key), size=size, limits=LIMITS, interpret=_opened, options={"path": path})


def _opened(result: dict[str, Any], blobs: list[bytes]) -> OpenedFile:
    (content,) = blobs
    match result["kind"], sniff(content):
        case "picture", "webp":
            return OpenedFile("picture", WEBP, content)
        case "font", "woff2":
            return OpenedFile("font", "font/woff2", content)
        case "font", "otf" | "ttf":
            return OpenedFile("font", "font/sfnt", content)
        case "sound", _:
            return OpenedFile("sound", SOUND_TYPES[result["format"]], content)
        case "text", _:
            # Decoded, so that what is not UTF-8 is refused.
            return OpenedFile("text", "text/plain; charset=utf-8", content.decode().encode(), bool(result["truncated"]))
        case other:
            raise ValueError(other)


def draw_glyphs(*, storage: ObjectStorage, key: str, size: int, path: str, face: int, names: list[str]) -> Drawings:
    """Return drawings of glyphs, of which the caller passes at most `MAX_GLYPHS`, of a stored font or of a font in a stored archive; those that it lacks are left out.

    Raises:
        UnsupportedType: there is no such font.
        FileRejected: it is damaged.
        DependencyUnavailable: too many files are being inspected, the child cannot be started or was killed, or the file store cannot be read.
    """
    options = {"path": path, "face": face, "names": names}
    return run_in_sandbox("glyphs", read_at=reader_of(storage, key), size=size, limits=LIMITS, interpret=_drawn, options=options)


def _drawn(result: dict[str, Any], _blobs: list[bytes]) -> Drawings:
    drawings = {}
    for name, found in result["glyphs"].items():
        if not _PATH.fullmatch(found["path"]) or not 0 <= found["width"] <= 2**16:
            raise ValueError(name)
        drawings[name] = Drawing(found["path"], float(found["width"]))
    ascent, descent = float(result["ascent"]), float(result["descent"])
    if not -(2**16) < descent < ascent < 2**16:
        raise ValueError("lines")
    return Drawings(ascent, descent, drawings)


def sheet_of(drawings: Drawings, names: Sequence[str]) -> str:
    """Return an SVG image with a cell for each of these glyphs, at least one, in their order; the cell of a glyph without a drawing is empty."""
    columns = min(MAX_COLUMNS, len(names))
    rows = math.ceil(len(names) / columns)
    scale = (CELL_HEIGHT - 30) / (drawings.ascent - drawings.descent)
    cells = []
    for number, name in enumerate(names):
        left, top = number % columns * CELL_WIDTH, number // columns * CELL_HEIGHT
        cells.append(f'<path d="M{left} {top}h{CELL_WIDTH}v{CELL_HEIGHT}h-{CELL_WIDTH}z" fill="none" stroke="#ccc"/>')
        if (drawing := drawings.glyphs.get(name)) is not None:
            baseline = top + 15 + drawings.ascent * scale
            fitted = min(scale, (CELL_WIDTH - 16) / max(drawing.width, 1))
            begin = left + (CELL_WIDTH - drawing.width * fitted) / 2
            cells.append(
                f'<path d="{drawing.path}" transform="translate({begin:.1f} {baseline:.1f}) scale({fitted:.5f} -{fitted:.5f})" fill="#111"/>'
            )
    size = f'width="{columns * CELL_WIDTH}" height="{rows * CELL_HEIGHT}" viewBox="0 0 {columns * CELL_WIDTH} {rows * CELL_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="100%" height="100%" fill="#fff"/>{"".join(cells)}</svg>'
