"""The comparison of two files finds what fontTools and zipfile find, and nothing else."""

import io
import random
import zipfile
from typing import Any

import pytest
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont, newTable

from catalog.comparison.facts import Facts, parse_facts
from catalog.comparison.files import FileChanges, FontChanges, compare_files
from catalog.comparison.lines import MAX_LINES, changed_lines
from tests.files import makers
from tests.files.helpers import inspect
from vendors.sandbox import entries, font_facts
from vendors.sandbox.font_facts import _short

pytestmark = pytest.mark.usefixtures("in_this_process")

LETTERS = [f"letter{number}" for number in range(30)]
# Of each kind of change several.
PAIRS_OF_FONTS, PAIRS_OF_ARCHIVES = 18, 40


def _mutated_fonts(seed: int) -> tuple[bytes, bytes]:
    chance = random.Random(seed)
    cff = seed // 6 % 2 == 0
    sizes = {name: chance.randint(50, 600) for name in LETTERS}
    widths = {name: chance.randint(300, 700) for name in LETTERS}
    before = makers.drawn_font(sizes, widths, cff=cff)
    what, victim = seed % 6, chance.choice(LETTERS)
    if what == 0:
        sizes[victim] += 1
    elif what == 1:
        widths[victim] += 1
    elif what == 2:
        del sizes[victim]
    elif what == 3:
        sizes["more"] = 80
    name, field = ("Two" if what == 4 else "One"), (801 if what == 5 else 800)
    return before, makers.drawn_font(sizes, widths, cff=cff, name=name, field=field)


def _outlines(font: TTFont) -> dict[str, Any]:
    glyphs, drawn = font.getGlyphSet(), {}
    for name in font.getGlyphOrder():
        pen = DecomposingRecordingPen(glyphs)
        glyphs[name].draw(pen)
        drawn[name] = pen.value
    return drawn


def _assert_agrees(found: FontChanges, before: bytes, after: bytes) -> None:
    old, new = TTFont(io.BytesIO(before)), TTFont(io.BytesIO(after))
    drawn, redrawn = _outlines(old), _outlines(new)
    both = drawn.keys() & redrawn.keys()
    assert {glyph.name for glyph in found.redrawn} == {name for name in both if drawn[name] != redrawn[name]}
    assert {glyph.name for glyph in found.added} == redrawn.keys() - drawn.keys()
    assert {glyph.name for glyph in found.removed} == drawn.keys() - redrawn.keys()
    assert {each.name for each in found.respaced} == {name for name in both if old["hmtx"][name][0] != new["hmtx"][name][0]}
    assert ("family" in {each.name for each in found.names}) == (old["name"].getDebugName(1) != new["name"].getDebugName(1))
    assert ("hhea ascent" in {each.name for each in found.metrics}) == (old["hhea"].ascent != new["hhea"].ascent)
    assert found.glyph_count.after == new["maxp"].numGlyphs
    assert found.complete


def _archive(contents: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number, (path, content) in enumerate(contents.items()):
            archive.writestr(zipfile.ZipInfo(path), content, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][number % 2])
    return made.getvalue()


def _facts(store: Any, content: bytes) -> Facts:
    facts = parse_facts(inspect(store, content).facts)
    assert facts is not None
    return facts


def _compared(store: Any, before: bytes, after: bytes) -> FileChanges:
    return compare_files(_facts(store, before), _facts(store, after))


def test_mutated_fonts_differ_in_what_font_tools_finds(local_store: Any) -> None:
    pairs = {f"font{seed}.otf": _mutated_fonts(seed) for seed in range(PAIRS_OF_FONTS)}
    changes = _compared(
        local_store,
        _archive({path: before for path, (before, _) in pairs.items()}),
        _archive({path: after for path, (_, after) in pairs.items()}),
    )
    found = {each.path: each for each in changes.fonts}
    assert found.keys() == {path for path, (before, after) in pairs.items() if before != after}
    for path, each in found.items():
        _assert_agrees(each, *pairs[path])


def test_mutated_archives_differ_in_what_zipfile_finds(local_store: Any) -> None:
    for seed in range(PAIRS_OF_ARCHIVES):
        chance = random.Random(seed)
        old = {f"folder{number % 3}/{number}.bin": chance.randbytes(chance.randint(0, 3000)) for number in range(chance.randint(1, 30))}
        new = dict(old)
        for path in chance.sample(sorted(old), min(len(old), seed % 4)):
            content = bytearray(new.pop(path))
            if content and chance.random() < 0.7:
                content[chance.randrange(len(content))] ^= 1
                new[path] = bytes(content)
        if seed % 5 == 0:
            new["added.bin"] = b"x"
        if not new:
            continue
        before, after = _archive(old), _archive(new)
        read = [{name: each.read(name) for name in each.namelist()} for each in map(zipfile.ZipFile, map(io.BytesIO, (before, after)))]
        changes = _compared(local_store, before, after)
        assert {entry.path for entry in changes.of_kind("added")} == read[1].keys() - read[0].keys()
        assert {entry.path for entry in changes.of_kind("removed")} == read[0].keys() - read[1].keys()
        both = read[0].keys() & read[1].keys()
        assert not changes.of_kind("moved")
        assert {entry.path for entry in changes.of_kind("changed")} == {path for path in both if read[0][path] != read[1][path]}


def test_packing_an_archive_differently_is_no_change(local_store: Any) -> None:
    contents = {"a.txt": b"one " * 100, "b.bin": b"two " * 100}
    swapped = dict(reversed(contents.items()))
    changes = _compared(local_store, _archive(contents), _archive(swapped))
    assert (changes.entries, changes.texts, changes.hosts) == ([], [], [])


def test_a_host_that_a_script_of_a_skill_newly_names_is_found(local_store: Any) -> None:
    skill = b"---\nname: x\nallowed-tools: Read, Bash(git:*)\n---\nCall https://api.example.com.\n"
    before = {"SKILL.md": skill, "scripts/run.py": b"print(1)\nprint(2)\n"}
    after = {"SKILL.md": skill.replace(b"Read,", b"Read, Write,"), "scripts/run.py": b"print(1)\nget('https://user@Evil.example.net/x')\n"}
    changes = _compared(local_store, _archive(before), _archive(after))
    assert [(host.name, host.before, host.after) for host in changes.hosts] == [("evil.example.net", None, ["scripts/run.py"])]
    assert [(tool.name, tool.after) for tool in changes.tools] == [("Write", True)]
    (lines,) = [text.changes.lines for text in changes.texts if text.path == "scripts/run.py"]
    assert [(line.number, line.added) for line in lines] == [(2, False), (2, True)]


HOSTS = {
    "https://api.example.com@evil.example/x": "evil.example",
    "https://a@b@evil.example/x": "evil.example",
    f"https://{'a' * 300}@evil.example": "evil.example",
    "https://\u0435vil.example/x": "\u0435vil.example",
    "https://[2001:db8::1]:8443/": "[2001:db8::1]",
    "https://evil.example\\@good.example/": "evil.example",
    "https://good.example/@evil.example": "good.example",
}


def test_host_of_a_url_in_a_script_is_recorded(local_store: Any) -> None:
    before = {"SKILL.md": b"---\nname: x\n---\n", "run.py": b"print(1)\n"}
    for address, host in HOSTS.items():
        after = before | {"run.py": f"get('{address}')\n".encode()}
        assert [each.name for each in _compared(local_store, _archive(before), _archive(after)).hosts] == [host]


@pytest.mark.parametrize("recorded", [{}, None, [], "x", {"fonts": {"": [{}]}}, {"entries": [["a"]]}, {"texts": 3}])
def test_facts_that_are_not_understood_are_none(recorded: Any) -> None:
    assert parse_facts(recorded) is None


@pytest.mark.slow
def test_long_texts_are_compared_within_bounds() -> None:
    before, after = "\n".join(f"{n % 97}" for n in range(60_000)), "\n".join(f"{n % 89}" for n in range(60_000))
    found = changed_lines(before, after)
    assert len(found.lines) == MAX_LINES < found.total
    assert [(line.number, line.text) for line in changed_lines(before, f"{before}\nlast").lines] == [(60_001, "last")]


def test_a_change_far_into_a_long_line_is_shown() -> None:
    line = "".join(f"call({number});" for number in range(2000))
    found = changed_lines(f"first\n{line}", f"first\n{line.replace('call(1500)', 'evil(1500)')}")
    assert [(each.number, each.added, each.text) for each in found.lines] == [(2, False, "call(1500);"), (2, True, "evil(1500);")]


def test_moved_files_are_recognised_and_compared_with_their_former_contents(local_store: Any) -> None:
    lines = "".join(f"line {number}\n" for number in range(40))
    before = {"a/old.bin": b"same" * 9, "a/read.bin": b"one", "a/script.py": lines.encode(), "gone.bin": b"gone"}
    after = {
        "b/new.bin": b"same" * 9,
        "b/read.bin": b"two!",
        "b/other.py": lines.replace("line 7\n", "evil\n").encode(),
        "added.bin": b"more",
    }
    changes = _compared(local_store, _archive(before), _archive(after))
    assert [(entry.kind, entry.former_path, entry.path) for entry in changes.entries] == [
        ("changed", "a/read.bin", "b/read.bin"),
        ("changed", "a/script.py", "b/other.py"),
        ("added", "", "added.bin"),
        ("removed", "", "gone.bin"),
        ("moved", "a/old.bin", "b/new.bin"),
    ]
    assert [(text.path, text.changes.total) for text in changes.texts] == [("b/other.py", 2)]


def test_one_glyph_of_a_renamed_font_is_found(local_store: Any) -> None:
    sizes, widths = dict.fromkeys(LETTERS, 100), dict.fromkeys(LETTERS, 500)
    old, other = makers.drawn_font(sizes, widths, cff=False), makers.drawn_font(dict.fromkeys(LETTERS, 300), widths, cff=False)
    new = makers.drawn_font(sizes | {LETTERS[4]: 101}, widths, cff=False)
    changes = _compared(local_store, _archive({"one.ttf": other, "two.ttf": old}), _archive({"fonts/a.ttf": new, "fonts/b.ttf": other}))
    (font,) = changes.fonts
    assert (font.path, font.former_path, [glyph.name for glyph in font.redrawn]) == ("fonts/a.ttf", "two.ttf", [LETTERS[4]])


def test_hosts_and_texts_beyond_the_bounds_are_counted(local_store: Any) -> None:
    hosts = "".join(f"https://h{number}.example/\n" for number in range(203))
    many = {f"{number:02}.txt": b"text" for number in range(45)}
    changes = _compared(local_store, _archive({"a.txt": b"text"}), _archive({"0.txt": hosts.encode(), **many}))
    assert (len(changes.hosts), changes.other_hosts, changes.unsearched_texts) == (200, 3, 6)


def test_entries_beyond_those_that_are_recorded_differ_only_if_there_are_any(local_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_COMPARED", 2)
    one, two, three, other = ({f"{number}.bin": f"{number}".encode() for number in numbers} for numbers in ("0", "01", "012", "013"))
    for before, after, differ in ((one, two, False), (two, three, True), (three, three, False), (three, other, True)):
        assert _compared(local_store, _archive(before), _archive(after)).other_entries == differ


def _with_table(content: bytes) -> bytes:
    """Return a font with a table that comes after all others."""
    font = TTFont(io.BytesIO(makers.font()))
    font["zzzz"] = table = newTable("zzzz")
    table.data = content
    return makers.saved(font)


def test_tables_beyond_those_that_are_recorded_are_compared_together(local_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # All but the last one.
    monkeypatch.setattr(font_facts, "MAX_TABLES", len(TTFont(io.BytesIO(_with_table(b"")), lazy=True).reader.tables) - 1)
    (font,) = _compared(local_store, _with_table(b"one"), _with_table(b"two")).fonts
    assert (font.tables, font.other_tables) == ([], True)


def test_new_face_in_a_font_collection_is_reported() -> None:
    face = {"glyphCount": 1, "glyphs": {"A": ["x", 500, [65]]}, "complete": True}
    before, after = (parse_facts({"fonts": {"": faces}}) for faces in ([face], [face, face]))
    assert before is not None
    assert after is not None
    assert [(font.face, font.glyph_count.after, len(font.added)) for font in compare_files(before, after).fonts] == [(1, 1, 1)]


def test_glyphs_with_equal_beginnings_of_long_names_are_kept_apart() -> None:
    name = "x" * 70
    assert _short("A") == "A"
    assert _short(f"{name}1") != _short(f"{name}2")
    assert len(_short(name)) == 63
