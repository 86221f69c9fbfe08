"""The files that the vendor of the journey sells: a real type family, pictures set in it, a sound."""

import io
import math
import struct
import wave
import zipfile
from pathlib import Path

import font_roboto
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

FAMILY = sorted(Path(font_roboto.font_directory).glob("*.ttf"))
REGULAR = next(path for path in FAMILY if path.name == "Roboto-Regular.ttf")


def family_archive() -> bytes:
    """Return the whole family in a zip, with its licence."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [*FAMILY, REGULAR.with_name("LICENSE")]:
            archive.write(path, f"roboto/{path.name}")
    return buffer.getvalue()


def specimen() -> bytes:
    """Return the regular weight as WOFF2."""
    font = TTFont(REGULAR)
    font.flavor = "woff2"
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def thumbnail(text: str) -> bytes:
    """Return a JPEG that shows the text in the family."""
    image = Image.new("RGB", (1200, 800), "#f4efe6")
    face = ImageFont.truetype(str(REGULAR), 160)
    ImageDraw.Draw(image).text((80, 300), text, fill="#202124", font=face)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def sound() -> bytes:
    """Return one second of a 440 Hz tone as WAV."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22_050)
        file.writeframes(b"".join(struct.pack("<h", int(12_000 * math.sin(2 * math.pi * 440 * n / 22_050))) for n in range(22_050)))
    return buffer.getvalue()


def preset_archive() -> bytes:
    """Return a preset pack: the sound and a text."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("presets/tone.wav", sound())
        archive.writestr("presets/README.md", "# A tone\n")
    return buffer.getvalue()
