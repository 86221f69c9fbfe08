"""Views of stored files for reviewers, without a download: files inside archives, and drawings of glyphs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from marketplace.storage.base import ObjectStorage

from .sandbox.runner import Limits, reader_of, run_in_sandbox

LIMITS = Limits(cpu_seconds=40, wall_seconds=90)
SOUND_TYPES = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
}
GLYPHS = 24
# The width of a cell and the height of a row in a sheet of glyphs.
CELL, ROW, COLUMNS = 120, 150, 4
_PATH = re.compile(r"[MLHVCQZ0-9., -]{0,20000}")


class OpenedFile(NamedTuple):
    """A file inside an archive as it is shown: `text`, `picture`, `font` or `sound`."""

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


def open_entry(*, store: ObjectStorage, key: str, size: int, path: str) -> OpenedFile:
    """Return a file inside a stored archive, made safe by the confined process: pictures are re-encoded, fonts sanitized.

    Raises:
        UnsupportedType: there is no such file, or it is of another kind.
        FileRejected: it is damaged.
        DependencyUnavailable: too many files are being inspected, the child cannot be started or was killed, or the store cannot be read.
    """
    return run_in_sandbox("open", read_at=reader_of(store, key), size=size, limits=LIMITS, interpret=_opened, path=path)


def _opened(result: dict[str, Any], blobs: list[bytes]) -> OpenedFile:
    (content,) = blobs
    match result["kind"]:
        case "picture" if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return OpenedFile("picture", "image/webp", content)
        case "font" if content[:4] == b"wOF2":
            return OpenedFile("font", "font/woff2", content)
        case "font" if content[:4] in {b"OTTO", b"\0\1\0\0", b"true"}:
            return OpenedFile("font", "font/sfnt", content)
        case "sound":
            return OpenedFile("sound", SOUND_TYPES[result["format"]], content)
        case "text":
            return OpenedFile("text", "text/plain; charset=utf-8", content.decode().encode(), bool(result["truncated"]))
        case other:
            raise ValueError(other)


def draw_glyphs(*, store: ObjectStorage, key: str, size: int, path: str, face: int, names: list[str]) -> Drawings:
    """Return drawings of glyphs, of which the caller passes at most `GLYPHS`, of a stored font or of a font in a stored archive; those that it lacks are left out.

    Raises:
        UnsupportedType: there is no such font.
        FileRejected: it is damaged.
        DependencyUnavailable: too many files are being inspected, the child cannot be started or was killed, or the store cannot be read.
    """
    options: dict[str, Any] = {"path": path, "face": face, "names": names}
    return run_in_sandbox("glyphs", read_at=reader_of(store, key), size=size, limits=LIMITS, interpret=_drawn, **options)


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
    """Return an SVG image with a cell for each of these glyphs, of which there is at least one, in their order; empty where it is not drawn."""
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    scale = (ROW - 30) / (drawings.ascent - drawings.descent)
    cells = []
    for number, name in enumerate(names):
        left, top = number % columns * CELL, number // columns * ROW
        cells.append(f'<path d="M{left} {top}h{CELL}v{ROW}h-{CELL}z" fill="none" stroke="#ccc"/>')
        if (drawing := drawings.glyphs.get(name)) is not None:
            baseline = top + 15 + drawings.ascent * scale
            fitted = min(scale, (CELL - 16) / max(drawing.width, 1))
            begin = left + (CELL - drawing.width * fitted) / 2
            cells.append(
                f'<path d="{drawing.path}" transform="translate({begin:.1f} {baseline:.1f}) scale({fitted:.5f} -{fitted:.5f})" fill="#111"/>'
            )
    size = f'width="{columns * CELL}" height="{rows * ROW}" viewBox="0 0 {columns * CELL} {rows * ROW}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect width="100%" height="100%" fill="#fff"/>{"".join(cells)}</svg>'
