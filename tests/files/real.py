"""Real files: fonts of installed packages, of which tests name a missing one, and sounds of real encoders."""

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import rest_framework

from tests import ROOT

from .makers import tone

FONTS = Path("/usr/share/fonts")


# By what is special about it: the Debian package of a font, and its file.
DEBIAN = {
    "variable": ("fonts-inter-variable", "truetype/inter-vf/Inter.var.ttf"),
    "collection for Chinese": ("fonts-wqy-microhei", "truetype/wqy/wqy-microhei.ttc"),
    "Japanese": ("fonts-ipaexfont-gothic", "opentype/ipaexfont-gothic/ipaexg.ttf"),
    "colour": ("fonts-noto-color-emoji", "truetype/noto/NotoColorEmoji.ttf"),
    "cubic": ("fonts-cantarell", "opentype/cantarell/Cantarell-Bold.otf"),
    "wide": ("fonts-dejavu-core", "truetype/dejavu/DejaVuSans.ttf"),
}


def font(name: str) -> Path:
    """Return a font by what is special about it, or of a format; skip where its package is not installed."""
    if name == "variable woff2":
        return ROOT / "templates" / "static" / "fonts" / "figtree-latin.woff2"
    if name not in DEBIAN:
        return min((Path(rest_framework.__file__).parent / "static/rest_framework/fonts").glob(f"*.{name}"))
    package, path = DEBIAN[name]
    if not (FONTS / path).exists():
        pytest.skip(f"needs the Debian package {package}")
    return FONTS / path


def encoded(path: Path, codec: str, bit_rate: int) -> bytes:
    """Return a tone as FFmpeg's encoder writes it, in the container that the ending names."""
    with av.open(str(path), "w") as container:
        # What kind of stream it is, the name of the codec decides.
        stream: Any = container.add_stream(codec, rate=44_100)
        stream.bit_rate = bit_rate
        stream.layout = "stereo"
        samples = np.ascontiguousarray(tone().T, dtype=np.float32)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        frame.sample_rate = 44_100
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path.read_bytes()
