import io
import zipfile
from typing import Any

import pytest

from marketplace.storage.base import ObjectStorage

from . import makers
from .helpers import inspect

SKILL = b"""---
name: kerning-helper
description: >
  Finds bad pairs
  and fixes them.
---
# Use

Call it.
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_entries_of_a_tar_archive_are_counted(local_store: ObjectStorage, mode: str) -> None:
    entries = {"a/one.PSD": b"x" * 3000, "a/two.psd": b"", "README": b"hi", "long/" + "n" * 200 + ".ttf": b"x"}
    found = inspect(local_store, makers.tarred({"skill/SKILL.md": SKILL, **entries}, mode, makers.link_member("a/link", "/etc/passwd")))
    assert found.format == {"w": "tar"}.get(mode, f"tar.{mode[2:]}")
    assert found.technical["entryCount"] == 6
    assert found.technical["uncompressedSize"] == 3003 + len(SKILL)
    assert found.technical["contentsByExtension"] == {"": 2, "md": 1, "psd": 2, "ttf": 1}
    assert found.technical["warnings"] == [{"code": "symlink", "count": 1, "examples": ["a/link"]}]
    assert found.technical["skill"]["name"] == "kerning-helper"


@pytest.mark.slow
def test_entries_of_a_zip_archive_are_counted_and_its_members_inspected(store: ObjectStorage) -> None:
    found = inspect(
        store,
        makers.zipped(
            {
                "fonts/Tiny.ttf": makers.font(axes=(("wght", 100, 400, 900, "Weight"),)),
                "fonts/Tiny.woff2": makers.font(flavor="woff2"),
                "art/cover.png": makers.picture(size=(40, 30)),
                "art/broken.png": b"\x89PNG\r\n\x1a\nno",
                "__MACOSX/._Tiny.ttf": b"shadow",
                "docs/": b"",
                "noext": b"x",
            }
        ),
    )
    technical = found.technical
    assert (found.format, technical["entryCount"], technical["encrypted"]) == ("zip", 7, False)
    assert technical["contentsByExtension"] == {"": 1, "png": 2, "ttf": 2, "woff2": 1}
    assert [member["path"] for member in technical["members"]] == ["fonts/Tiny.ttf", "fonts/Tiny.woff2", "art/cover.png"]
    assert (technical["glyphCount"], technical["variableAxes"], technical["familyNames"]) == (3, ["wght"], ["Tiny Sans"])
    assert technical["members"][2]["width"] == 40


@pytest.mark.usefixtures("in_this_process")
def test_glyph_count_of_a_font_family_is_the_maximum_of_its_styles(local_store: ObjectStorage) -> None:
    fuller = makers.font(letters="ABCDE")
    technical = inspect(
        local_store, makers.zipped({"Tiny-Regular.ttf": makers.font(), "Tiny-Bold.ttf": fuller, "Tiny-Thin.ttf": makers.font()})
    ).technical
    assert technical["glyphCount"] == 6
    assert [member["glyphCount"] for member in technical["members"]] == [3, 6, 3]


@pytest.mark.usefixtures("in_this_process")
def test_skill_of_an_archive_is_read(local_store: ObjectStorage) -> None:
    nested = b"---\nname: other\n---\n"
    skill = inspect(local_store, makers.zipped({"a/b/SKILL.md": nested, "SKILL.md": SKILL})).technical["skill"]
    assert skill == {
        "path": "SKILL.md",
        "name": "kerning-helper",
        "description": "Finds bad pairs and fixes them.",
        "text": "# Use\n\nCall it.\n",
        "truncated": False,
    }


@pytest.mark.usefixtures("in_this_process")
def test_text_of_a_malformed_skill_is_limited(local_store: ObjectStorage) -> None:
    for text in (b"", b"no front matter", b"---\nname: x", b"---\n---\n", b"\xff\xfe\x00", b"---\nname: 'q'\n---\n" + b"x" * 10**6):
        skill = inspect(local_store, makers.zipped({"SKILL.md": text})).technical["skill"]
        assert len(skill["text"]) <= 32 * 1024


@pytest.mark.usefixtures("in_this_process")
def test_unsafe_names_and_links_are_warned_of(local_store: ObjectStorage) -> None:
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in ("../../evil.sh", "/etc/cron.d/x", "C:\\boot.ini", "fine..name.txt"):
            archive.writestr(path, b"x")
        archive.writestr(link, b"/etc/passwd")
    warnings = {each["code"]: each["count"] for each in inspect(local_store, target.getvalue()).technical["warnings"]}
    assert warnings == {"unsafe_path": 3, "symlink": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (makers.png_of(7, 9, 16), ("png", 7, 9, 16, "RGB")),
        (makers.picture("JPEG"), ("jpg", 32, 16, 8, "RGB")),
        (makers.picture("JPEG", mode="CMYK"), ("jpg", 32, 16, 8, "CMYK")),
        (makers.picture("WEBP", mode="RGBA", lossless=True, exact=True), ("webp", 32, 16, 8, "RGB with alpha")),
        (makers.picture("JPEG", mode="L"), ("jpg", 32, 16, 8, "grayscale")),
        (makers.picture("PNG", mode="P"), ("png", 32, 16, 1, "indexed")),
        (makers.psd(32, 16), ("psd", 32, 16, 16, "CMYK")),
    ],
)
def test_image_is_described(local_store: ObjectStorage, content: bytes, facts: tuple[Any, ...]) -> None:
    found = inspect(local_store, content)
    technical = found.technical
    assert (found.format, technical["width"], technical["height"], technical["bitDepth"], technical["colourMode"]) == facts
    counted = (technical["entryCount"], technical["uncompressedSize"], technical["contentsByExtension"])
    assert counted == (1, len(content), {found.format: 1})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "name", "seconds", "depth"),
    [
        (makers.sound("WAV"), "wav", 1.0, 16),
        (makers.sound("WAV", subtype="PCM_U8"), "wav", 1.0, 8),
        (makers.sound("WAV", subtype="FLOAT"), "wav", 1.0, 32),
        (makers.sound("WAV", subtype="ULAW"), "wav", 1.0, 8),
        (makers.sound("FLAC", subtype="PCM_24"), "flac", 1.0, 24),
        (makers.sound("OGG"), "ogg", 1.0, None),
        (makers.sound("MP3"), "mp3", 1.0, None),
        (b"ID3\x04\0\0\0\0\0\x0a" + b"\0" * 10 + makers.sound("MP3"), "mp3", 1.0, None),
        (makers.adts(43), "aac", 1.0, None),
        (makers.m4a(3), "m4a", 3.0, None),
    ],
)
def test_sound_is_described(local_store: ObjectStorage, content: bytes, name: str, seconds: float, depth: int | None) -> None:
    found = inspect(local_store, content)
    technical = found.technical
    assert (found.format, technical["sampleRate"], technical["channels"]) == (name, 44_100, 2)
    assert technical["durationSeconds"] == pytest.approx(seconds, abs=0.08)
    assert technical.get("bitDepth") == depth
