"""Guesses the format of a file by its signature; the parser of the format must then accept it."""

# (offset, bytes, format): the first match counts.
SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\x03\x04", "zip"),
    (0, b"OTTO", "otf"),
    (0, b"\x00\x01\x00\x00", "ttf"),
    (0, b"true", "ttf"),
    (0, b"ttcf", "ttc"),
    (0, b"wOFF", "woff"),
    (0, b"wOF2", "woff2"),
    (0, b"\xff\xd8\xff", "jpg"),
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"8BPS", "psd"),
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"\x1f\x8b\x08", "tar.gz"),
    (0, b"BZh", "tar.bz2"),
    (0, b"\xfd7zXZ\x00", "tar.xz"),
    (257, b"ustar", "tar"),
    (4, b"ftyp", "m4a"),
    (0, b"ID3", "mp3"),
)
# Unsupported formats, so that the error message can name what was sent.
OTHERS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"%PDF", "a PDF document"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"RIFX", "an After Effects project; put it into a zip archive"),
    (0, b"MZ", "a Windows program"),
    (0, b"\x7fELF", "a Linux program"),
    (0, b"<", "markup, such as HTML or SVG"),
)
RIFF_KINDS = {b"WAVE": "wav", b"WEBP": "webp"}
HEAD_BYTES = 512


def sniff(head: bytes) -> str:
    """Return the format that the signature indicates, an empty string when it is unknown."""
    if head[:4] in {b"RIFF", b"RF64"}:
        return RIFF_KINDS.get(head[8:12], "")
    for offset, signature, name in SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            return name
    if len(head) > 1 and head[0] == 0xFF:
        if head[1] & 0xF6 == 0xF0:
            return "aac"
        # MPEG layer III only.
        if head[1] & 0xE6 == 0xE2:
            return "mp3"
    return ""


def describe_unknown(head: bytes) -> str:
    """Return a description of content that `sniff` does not recognize, for the error message."""
    if not head.strip(b"\0"):
        return "empty"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for offset, signature, description in OTHERS:
        if (text if signature == b"<" else head)[offset : offset + len(signature)] == signature:
            return description
    return "of a type that is not accepted"
