import io
import os
import zipfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import ots
import pytest
import soundfile
from fontTools.ttLib import TTFont
from PIL import Image, ImageCms

from catalog.models.files import PreviewKind
from marketplace.core.errors import BodyTooLarge
from vendors import bounds
from vendors.previews import process_preview
from vendors.sandbox.sounds import MAX_PEAKS

from . import makers
from .hostile.fonts import HTML, with_html
from .hostile.media import lying_xing

pytestmark = pytest.mark.usefixtures("in_this_process")

process_image = partial(process_preview, PreviewKind.GALLERY)
process_font = partial(process_preview, PreviewKind.FONT_SPECIMEN)
process_audio = partial(process_preview, PreviewKind.AUDIO_PREVIEW)


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content), formats=["WEBP"])
    image.load()
    return image


@pytest.mark.parametrize(
    ("process", "limit"), [(process_image, bounds.IMAGE_BYTES), (process_font, bounds.FONT_BYTES), (process_audio, bounds.AUDIO_BYTES)]
)
def test_preview_above_the_size_limit_is_refused(process: object, limit: int) -> None:
    with pytest.raises(BodyTooLarge):
        process(b"\0" * (limit + 1))  # type: ignore[operator]  # one of the three


def chunks(content: bytes) -> list[bytes]:
    """Return the kinds of the chunks that a WebP is made of."""
    kinds, at = [], 12
    while at + 8 <= len(content):
        kinds.append(content[at : at + 4])
        length = int.from_bytes(content[at + 4 : at + 8], "little")
        at += 8 + length + (length & 1)
    return kinds


def test_preview_of_a_photograph_is_upright_and_without_metadata() -> None:
    given = makers.photograph()
    assert Image.open(io.BytesIO(given)).getexif().get_ifd(0x8825)[29] == "SECRET-DATE"
    preview = process_image(given)
    assert (preview.content_type, preview.details) == ("image/webp", {"width": 40, "height": 60})
    for content in (preview.content, preview.renditions["card"].content):
        # No EXIF, ICCP or XMP chunk, no other of any kind.
        assert set(chunks(content)) <= {b"VP8 ", b"VP8L"}
        for word in (b"SECRET", b"Exif", b"xmp", b"ICC", b"8BIM", b"JFIF"):
            assert word not in content
        image = opened(content).convert("RGB")
        # What was on the left is above.
        top, bottom = image.getpixel((20, 5)), image.getpixel((20, 55))
        assert isinstance(top, tuple)
        assert isinstance(bottom, tuple)
        assert top[0] - top[2] > 140
        assert bottom[2] - bottom[0] > 140


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_is_honoured(orientation: int) -> None:
    image = Image.new("RGB", (60, 40), "blue")
    image.paste((255, 0, 0), (0, 0, 15, 10))
    exif = image.getexif()
    exif[0x0112] = orientation
    seen = opened(process_image(makers.saved(image, "JPEG", exif=exif, quality=95)).content).convert("RGB")
    assert seen.size == ((60, 40) if orientation < 5 else (40, 60))
    # Where the corner that was red in the file must lie (EXIF 2.3, table 6).
    right, below = orientation in {2, 3, 6, 7}, orientation in {3, 4, 7, 8}
    red = seen.getpixel((seen.width - 4 if right else 4, seen.height - 4 if below else 4))
    assert isinstance(red, tuple)
    assert red[0] - red[2] > 80


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_preview_of_an_animated_image_is_its_first_frame(kind: str) -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    preview = process_image(makers.saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=50))
    seen = opened(preview.content)
    assert (seen.size, getattr(seen, "n_frames", 1)) == ((20, 10), 1)
    colour = seen.convert("RGB").getpixel((10, 5))
    assert isinstance(colour, tuple)
    assert colour[0] - colour[1] > 140


def swapped_profile() -> bytes:
    """Return a colour profile in which red is blue and blue is red."""
    content = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, blue = content.index(b"rXYZ", 128), content.index(b"bXYZ", 128)
    content[red : red + 4], content[blue : blue + 4] = b"bXYZ", b"rXYZ"
    return bytes(content)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_colours_of_a_profile_are_those_of_the_screen(mode: str) -> None:
    content = makers.saved(Image.new(mode, (8, 8), (255, 0, 0, 255)[: len(mode)]), "PNG", icc_profile=swapped_profile())
    colour = opened(process_image(content).content).convert("RGB").getpixel((4, 4))
    assert isinstance(colour, tuple)
    assert colour[0] < 60
    assert colour[2] > 200


def test_html_in_the_private_data_of_a_font_is_not_in_its_specimen() -> None:
    for flavor in ("woff", "woff2"):
        given = with_html(flavor)
        specimen = process_font(given).content
        assert TTFont(io.BytesIO(given)).flavorData.privData == HTML
        assert TTFont(io.BytesIO(specimen)).flavorData.privData is None
        assert b"script" not in specimen


def test_zip_appended_to_a_picture_is_not_in_its_preview() -> None:
    content = process_image(makers.picture() + makers.zipped({"SECRET": b"a"})).content
    assert b"PK" not in content
    assert not zipfile.is_zipfile(io.BytesIO(content))


@pytest.mark.parametrize(("size", "full", "card"), [((4000, 1000), (1920, 480), (640, 160)), ((100, 80), (100, 80), (100, 80))])
def test_image_is_made_smaller_never_larger(size: tuple[int, int], full: tuple[int, int], card: tuple[int, int]) -> None:
    preview = process_image(makers.picture("JPEG", size))
    assert opened(preview.content).size == full
    rendition = preview.renditions["card"]
    assert opened(rendition.content).size == (rendition.width, rendition.height) == card


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        (makers.picture("JPEG", mode="CMYK"), "RGB"),
        (makers.picture("JPEG", mode="L"), "RGB"),
        (makers.picture("PNG", mode="I;16"), "RGB"),
        (makers.picture("PNG", mode="1"), "RGB"),
        (makers.picture("PNG", mode="P", transparency=0), "RGBA"),
        (makers.picture("PNG", mode="LA"), "RGBA"),
        (makers.picture("WEBP", mode="RGBA"), "RGBA"),
        (makers.picture("JPEG", icc_profile=b"no profile at all"), "RGB"),
    ],
)
def test_every_colour_mode_becomes_one_that_browsers_show(content: bytes, mode: str) -> None:
    assert opened(process_image(content).content).mode in {mode, "RGBA"}


def test_sixteen_bit_grey_keeps_its_brightness() -> None:
    content = makers.saved(Image.new("I;16", (8, 8), 0x8000), "PNG")
    levels = opened(process_image(content).content).convert("L").tobytes()
    assert all(abs(level - 0x80) < 8 for level in levels)


@pytest.mark.parametrize("flavor", ["woff", "woff2"])
def test_specimen_is_sanitized_and_described(flavor: str, tmp_path: Path) -> None:
    content = makers.font(axes=(("wght", 100, 400, 900, "Weight"),), flavor=flavor)
    preview = process_font(content)
    assert process_font(content) == preview
    assert preview.content_type == "font/woff2"
    assert preview.content[:4] == b"wOF2"
    assert preview.details["glyphCount"] == 3
    assert preview.details["variableAxes"] == ["wght"]
    assert preview.renditions == {}
    (tmp_path / "font").write_bytes(preview.content)
    assert ots.sanitize(str(tmp_path / "font"), os.devnull, capture_output=True).returncode == 0
    assert TTFont(io.BytesIO(preview.content)).getBestCmap() == {65: "A", 66: "B"}


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (makers.sound("WAV"), "audio/wav"),
        (makers.sound("MP3"), "audio/mpeg"),
        (makers.adts(43), "audio/aac"),
        (makers.m4a(1), "audio/mp4"),
    ],
)
def test_sound_is_kept_as_it_came_with_its_duration(content: bytes, content_type: str) -> None:
    preview = process_audio(content)
    assert (preview.content, preview.content_type) == (content, content_type)
    assert preview.details["durationSeconds"] == pytest.approx(1.0, abs=0.08)
    assert preview.details["sampleRate"] == 44_100


def faded(kind: str, loudest: float = 0.8) -> bytes:
    """Return a tone that grows from nothing to its loudest."""
    count = 2 * 44_100
    target = io.BytesIO()
    soundfile.write(target, np.sin(np.arange(count) * 0.05) * np.linspace(0, loudest, count), 44_100, format=kind)
    return target.getvalue()


@pytest.mark.parametrize("kind", ["WAV", "MP3"])
def test_waveform_of_a_sound_follows_its_loudness(kind: str) -> None:
    peaks = process_audio(faded(kind)).details["peaks"]
    assert 150 <= len(peaks) <= MAX_PEAKS
    assert max(peaks) == 100
    assert peaks[len(peaks) // 4] == pytest.approx(25, abs=4)
    assert peaks[len(peaks) // 2] == pytest.approx(50, abs=4)
    # It grows without a gap.
    assert all(after >= before - 4 for before, after in pairwise(peaks))
    # A quiet sound looks like a loud one.
    assert process_audio(faded(kind, 0.1)).details["peaks"] == pytest.approx(peaks, abs=4)


def test_sound_that_is_silent_or_not_decoded_has_no_waveform() -> None:
    assert process_audio(faded("WAV", 0.0)).details["peaks"] == []
    assert "peaks" not in process_audio(makers.m4a(1)).details


@pytest.mark.parametrize("peaks", [[101], [-1], [True], ["1"], [0.5], [1] * 161])
def test_waveform_of_a_compromised_child_is_not_published(monkeypatch: pytest.MonkeyPatch, peaks: list[Any]) -> None:
    facts = {"format": "wav", "details": {"peaks": peaks}}
    monkeypatch.setattr("vendors.previews.run_in_sandbox", lambda *_, interpret, **__: interpret(facts, []))
    with pytest.raises(ValueError, match="peaks"):
        process_audio(b"")


def test_duration_of_a_sound_ignores_a_false_header() -> None:
    assert process_audio(lying_xing()).details["durationSeconds"] == pytest.approx(2.0, abs=0.1)
