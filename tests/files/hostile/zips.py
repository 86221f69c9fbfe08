"""Zip archives that read differently from front to back than by their directory."""

import struct
import zlib

from ..zip_crafting import END, LOCAL, Part, archive, deflated, kept, unicode_path, with_second_end
from .cases import Case, Refused, Taken

SEEN, SECOND = Part(b"seen.txt", b"seen"), Part(b"second.txt", b"second")
HIDDEN = Part(b"hidden.exe", b"hidden", method=0)
EARLY = deflated(b"seen")
UNNAMED, ENDS, DIFFERS, FURTHER, NAMES = "does not name", "does not end where", "described differently", "further entries", "two names"


def described(content: bytes, packed: int) -> bytes:
    return struct.pack("<4sIII", b"PK\7\x08", zlib.crc32(content), packed, len(content))


def early(*, streamed: bool = False) -> bytes:
    """Return an archive whose first entry holds another one behind the end of its compressed stream."""
    behind = described(b"seen", len(EARLY)) if streamed else b""
    return archive(Part(b"seen.txt", b"seen", data=EARLY + behind + HIDDEN.record(), streamed=streamed), SECOND)


def overrun() -> bytes:
    """Return an archive in which the stream of one entry ends in the data of the next, before a third."""
    # A stream of one block, which keeps its bytes as they are: the descriptor and the header of the next entry.
    length = 16 + LOCAL.size + len(SECOND.name)
    opening = struct.pack("<BHH", 1, length, length ^ 0xFFFF)
    inside = struct.pack("<4sIII", b"PK\7\x08", 0, len(opening) + length, length) + HIDDEN.record()
    descriptor = described(b"seen", len(opening))
    return archive(Part(b"seen.txt", b"seen", data=opening, streamed=True, descriptor=descriptor), Part(SECOND.name, inside, method=0))


def stored_stream() -> bytes:
    """Return an archive in which a stored stream seems to end early, before an entry."""
    data = b"seen" + described(b"seen", 4) + HIDDEN.record()
    return archive(Part(b"seen.txt", data, method=0, streamed=True), SECOND)


def further_line() -> bytes:
    """Return an archive whose directory names its one entry twice, which its end record does not count."""
    content = archive(SEEN)
    at, end = content.index(b"PK\1\2"), content.rindex(b"PK\5\6")
    return content[:end] + content[at:end] + END.pack(b"PK\5\6", 0, 0, 1, 1, 2 * (end - at), at, 0)


def locator_in_a_comment() -> bytes:
    """Return an archive with the ZIP64 end records of another directory in the comment of its last entry."""
    content = with_second_end(archive(SEEN, SECOND))
    at = content.rindex(b"PK\6\6")
    end = content.rindex(b"PK\5\6")
    return archive(SEEN, Part(b"second.txt", b"second", line={"comment": content[at:end]}))


HIDING: tuple[Case, ...] = (
    Case("zip with an entry before its first", lambda: archive(HIDDEN, SEEN, unnamed=(0,)), Refused(UNNAMED)),
    Case("zip with an entry between its entries", lambda: archive(SEEN, HIDDEN, SECOND, unnamed=(1,)), Refused(UNNAMED)),
    Case("zip with an entry after its last", lambda: archive(SEEN, HIDDEN, unnamed=(1,)), Refused(UNNAMED)),
    Case("zip with an entry behind a stream", early, Refused(ENDS)),
    Case("zip with an entry behind a stream of unknown size", lambda: early(streamed=True), Refused(ENDS)),
    Case("zip with an entry in a stored stream", stored_stream, Refused(FURTHER)),
    Case("zip with an entry behind a stream that runs over", overrun, Refused(ENDS)),
)
# These read alike, or are read by nobody, and are refused all the same.
CRAFTED: tuple[Case, ...] = (
    Case("zip with bytes before its first entry", lambda: archive(SEEN, SECOND, unnamed=(0,)), Refused(UNNAMED)),
    Case("zip with zeros between its entries", lambda: archive(SEEN, Part(b"b", before=b"\0" * 9)), Refused(UNNAMED)),
    Case("zip with zeros before its directory", lambda: archive(SEEN, tail=b"\0" * 9), Refused(UNNAMED)),
    Case("zip with a further line in its directory", further_line, Refused("more than its end record")),
    Case(
        "zip with a last entry that reaches into its directory",
        lambda: archive(SEEN, Part(b"b", method=0, local={"packed": 9, "size": 9}, line={"packed": 9, "size": 9})),
        Refused("reach into its directory"),
    ),
    Case("zip with two methods", lambda: archive(Part(b"a", method=0, line={"method": 8})), Refused(DIFFERS)),
    Case("zip with two checksums", lambda: archive(Part(b"a", line={"crc": 1})), Refused(DIFFERS)),
    Case("zip with two sizes", lambda: archive(Part(b"a", line={"size": 2})), Refused(DIFFERS)),
    Case("zip with two packed sizes", lambda: archive(Part(b"a", local={"packed": 1})), Refused(DIFFERS)),
    Case("zip encrypted by one header", lambda: archive(Part(b"a", line={"flags": 1})), Refused(DIFFERS)),
    Case("zip streamed by one header", lambda: archive(Part(b"a", local={"flags": 8})), Refused(DIFFERS)),
    Case("zip with names in two encodings", lambda: archive(Part(b"\xc3\xa9", line={"flags": 0x800})), Refused(DIFFERS)),
    Case("zip with a descriptor of another size", lambda: archive(Part(b"a", streamed=True, descriptor=b"\0" * 16)), Refused(UNNAMED)),
    Case("zip without its descriptor", lambda: archive(Part(b"a", streamed=True, descriptor=b"")), Refused(UNNAMED)),
    Case("zip with a checksum of other data", lambda: archive(Part(b"a", data=b"y", method=0, streamed=True)), Refused(ENDS)),
    Case(
        "zip with a Unicode name of its own",
        lambda: archive(Part(b"a.txt", line={"extra": unicode_path(b"a.txt", b"a.exe")})),
        Refused(NAMES),
    ),
    Case(
        "zip with a Unicode name in one header",
        lambda: archive(Part(b"\x84.txt", local={"extra": unicode_path(b"\x84.txt", "ä.txt".encode())})),
        Taken("zip", {"entryCount": 1}),
    ),
    Case(
        "zip with two Unicode names",
        lambda: archive(
            Part(
                b"\x84.txt",
                local={"extra": unicode_path(b"\x84.txt", "ö.txt".encode())},
                line={"extra": unicode_path(b"\x84.txt", "ä.txt".encode())},
            )
        ),
        Refused(NAMES),
    ),
    Case("zip with extra fields that are cut off", lambda: archive(Part(b"a", line={"extra": b"\1\0\x20\0"})), Refused("extra fields")),
    Case(
        "zip with a ZIP64 field that is too short",
        lambda: archive(Part(b"a", line={"size": 2**32 - 1, "extra": b"\1\0\4\0abcd"})),
        Refused("extra fields"),
    ),
    Case("zip with two end records that differ", lambda: with_second_end(archive(SEEN, SECOND), count=1), Refused("end records")),
    Case("zip with a second end record elsewhere", lambda: with_second_end(archive(SEEN), at=0), Refused("points nowhere")),
    Case("zip with end records in a comment", locator_in_a_comment, Refused("end record")),
    Case(
        "zip with a nested zip in a stream",
        lambda: archive(Part(b"a.zip", HIDDEN.record(), data=kept(HIDDEN.record()))),
        Taken("zip", {"entryCount": 1}, ("nested_archive",)),
    ),
    Case("zip with an archive in its comment", lambda: archive(SEEN, comment=HIDDEN.record()), Taken("zip", {"entryCount": 1})),
)
ZIPS = (*HIDING, *CRAFTED)
