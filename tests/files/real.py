"""Real files: fonts and pictures of installed packages, of which tests name a missing one, and sounds of real encoders."""

import importlib.util
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests import ROOT

from .makers import tone

FONTS = Path("/usr/share/fonts")


def debian(package: str, path: Path) -> Path:
    """Return a file of a Debian package, or skip."""
    if not path.exists():
        pytest.skip(f"needs the Debian package {package}")
    return path


def python(package: str, inside: str) -> Path:
    """Return a file of an installed Python package, the first that fits."""
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    return min(Path(found.origin).parent.glob(inside))


def font(name: str) -> Path:
    """Return a font by what is special about it."""
    match name:
        case "variable":
            return debian("fonts-inter-variable", FONTS / "truetype/inter-vf/Inter.var.ttf")
        case "collection for Chinese":
            return debian("fonts-wqy-microhei", FONTS / "truetype/wqy/wqy-microhei.ttc")
        case "Japanese":
            return debian("fonts-ipaexfont-gothic", FONTS / "opentype/ipaexfont-gothic/ipaexg.ttf")
        case "colour":
            return debian("fonts-noto-color-emoji", FONTS / "truetype/noto/NotoColorEmoji.ttf")
        case "cubic":
            return debian("fonts-cantarell", FONTS / "opentype/cantarell/Cantarell-Bold.otf")
        case "wide":
            return debian("fonts-dejavu-core", FONTS / "truetype/dejavu/DejaVuSans.ttf")
        case "variable woff2":
            return ROOT / "templates" / "static" / "fonts" / "figtree-latin.woff2"
        case _:
            return python("rest_framework", f"static/rest_framework/fonts/*.{name}")


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
