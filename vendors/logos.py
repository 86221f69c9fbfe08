"""Makes the logos on invoices and of apps safe: they are re-encoded in the sandbox. A store's logo is a `StorePicture`."""

from typing import Any

from marketplace.core.errors import BodyTooLarge

from . import bounds
from .previews import LIMITS
from .sandbox.runner import reader_of_bytes, run_in_sandbox
from .sandbox.sniffing import sniff


def process_logo(data: bytes, sender: str = "") -> bytes:
    """Return an uploaded image (JPG, PNG or WebP) as a small JPEG on white. `sender` identifies the uploader, as in `run_in_sandbox`.

    Raises:
        UnsupportedType: the content is of another type.
        FileRejected: it is damaged or has too many pixels.
        BodyTooLarge: it is larger than `bounds.LOGO_BYTES`.
    """
    if len(data) > bounds.LOGO_BYTES:
        raise BodyTooLarge(maximumBytes=bounds.LOGO_BYTES)
    return run_in_sandbox("logo", read_at=reader_of_bytes(data), size=len(data), limits=LIMITS, interpret=_logo, sender=sender)


def _logo(_result: dict[str, Any], blobs: list[bytes]) -> bytes:
    # Checked, because the output of a compromised child would be put into documents.
    (content,) = blobs
    if sniff(content) != "jpg" or len(content) > bounds.LOGO_BYTES:
        raise ValueError("no JPEG")
    return content
