"""Font specimens: rewritten by the sanitizer that browsers use, and compressed again."""

import io
from typing import Any, BinaryIO

from . import fonts, woff2
from .exceptions import Unsupported
from .sniffing import HEAD_BYTES, sniff


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `font` task of the sandbox: return the technical details of the font and its sanitized bytes."""
    if sniff(file.read(HEAD_BYTES)) not in {"woff", "woff2"}:
        raise Unsupported("Send a WOFF2 or WOFF font.")
    file.seek(0)
    plain = fonts.sanitized(file.read(fonts.COMPRESSED_BYTES + 1))
    font = fonts.open_font(io.BytesIO(plain), len(plain))
    return {"details": fonts.describe(font)}, [woff2.write(plain)]
