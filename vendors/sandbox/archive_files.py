"""Opens one file inside an archive for a reviewer, in a form that is safe to send to a browser."""

import io
from typing import Any, BinaryIO

from . import fonts, inspecting, preview_fonts, preview_images, tars, texts, zips
from .exceptions import Unsupported
from .sniffing import HEAD_BYTES, sniff

OPENED_BYTES = 20 * 2**20
SHOWN_TEXT_BYTES = 256 * 2**10
SOUNDS = {"wav", "mp3", "aac", "m4a", "flac", "ogg"}
MISSING = "The archive has no such file, or it is encrypted or too large to be opened here."


def run(file: BinaryIO, size: int, path: str) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `open` task of the sandbox: return what the file is, `text`, `picture`, `font` or `sound`, and what is shown of it."""
    content = member(file, size, path)
    format_name = sniff(content[:HEAD_BYTES])
    inner = io.BytesIO(content)
    if format_name in preview_images.MAX_PIXELS:
        return {"kind": "picture"}, preview_images.run(inner, len(content))[1][:1]
    if format_name in {"woff", "woff2"}:
        return {"kind": "font"}, preview_fonts.run(inner, len(content))[1]
    if format_name in {"otf", "ttf"}:
        return {"kind": "font"}, [fonts.sanitized(content)]
    if format_name in SOUNDS:
        inspecting.module_details(inner, len(content), format_name)
        return {"kind": "sound", "format": format_name}, [content]
    if not format_name and (path.rpartition(".")[2].lower() in texts.EXTENSIONS or b"\0" not in content):
        shown = content[:SHOWN_TEXT_BYTES].decode("utf-8-sig", "replace").encode()
        return {"kind": "text", "truncated": len(content) > SHOWN_TEXT_BYTES}, [shown]
    raise Unsupported("Only texts, pictures, fonts and sounds can be opened here. Download the file instead.")


def member(file: BinaryIO, size: int, path: str) -> bytes:
    """Return a file inside an archive by its displayed path (`displayable`); the file itself where the path is empty.

    Raises:
        Unsupported: there is none, or it cannot be read.
    """
    format_name = sniff(file.read(HEAD_BYTES))
    file.seek(0)
    if not path and size <= OPENED_BYTES:
        return file.read(OPENED_BYTES)
    content = None
    if inspecting.MODULES.get(format_name) == "zips":
        content = zips.read_member(file, size, path, OPENED_BYTES)
    elif inspecting.MODULES.get(format_name) == "tars":
        content = tars.read_member(file, size, format_name, path, OPENED_BYTES)
    if content is None:
        raise Unsupported(MISSING)
    return content
