"""Real files: fonts, pictures and sounds of installed packages; tests name a missing one."""

import importlib.util
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile

from tests import ROOT

FONTS = Path("/usr/share/fonts")
THEME = Path("/usr/share/sounds/freedesktop/stereo")


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


def picture() -> Path:
    """Return a picture that a package shows on its pages."""
    return python("rest_framework", "static/rest_framework/img/*halflings.png")


def voice() -> tuple["np.ndarray[tuple[int, ...], np.dtype[np.float32]]", int]:
    """Return the samples, and their rate, of a voice that speaks."""
    path = debian("sound-theme-freedesktop", THEME / "audio-channel-front-left.oga")
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return samples, rate


def written(path: Path, subtype: str) -> bytes:
    """Return the voice as libsndfile writes it."""
    samples, rate = voice()
    soundfile.write(path, samples, rate, subtype=subtype)
    return path.read_bytes()


def encoded(path: Path, codec: str, bit_rate: int) -> bytes:
    """Return the voice as FFmpeg's encoder writes it, in the container that the ending names."""
    samples, rate = voice()
    with av.open(str(path), "w") as container:
        layout = "stereo" if samples.shape[1] == 2 else "mono"
        # What kind of stream it is, the name of the codec decides.
        stream: Any = container.add_stream(codec, rate=rate)
        stream.bit_rate = bit_rate
        stream.layout = layout
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout=layout)
        frame.sample_rate = rate
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path.read_bytes()
