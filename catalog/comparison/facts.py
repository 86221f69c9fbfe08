"""The facts by which two files are compared, as the inspection of an upload records them."""

from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError


class Axis(BaseModel):
    """A variable axis of a font."""

    tag: str
    min: float
    default: float
    max: float


class RecordedGlyph(NamedTuple):
    """A glyph: the digest of its outline, its advance width and its code points."""

    outline: str
    width: int
    code_points: list[int]


class Face(BaseModel):
    """A font, or a face of a collection.

    Args:
        names: Texts of the table `name` by their number.
        metrics: Numbers by table and field, such as `OS/2 usWeightClass`.
        tables: A digest of each of the first tables.
        otherTables: One digest of all other tables; empty where there are none.
        glyphs: The glyphs by name.
        complete: Whether all glyphs are listed.
    """

    axes: list[Axis] = []
    names: dict[str, str] = {}
    metrics: dict[str, int | float] = {}
    tables: dict[str, str] = {}
    otherTables: str = ""  # noqa: N815 - as it is in JSON
    glyphCount: int  # noqa: N815 - as it is in JSON
    glyphs: dict[str, RecordedGlyph] = {}
    complete: bool = False


class Facts(BaseModel):
    """The facts of a file; paths are empty where it is not an archive.

    Args:
        entries: Path, size in bytes and digest of each of the first entries of an archive.
        otherEntries: One digest of all other entries; empty where there are none.
        fonts: The faces of each font.
        media: Technical details of pictures and sounds.
        texts: The beginning of each text.
        hosts: Hosts that the texts name, with the first files that do.
        otherHosts: How many more hosts they name.
        unsearchedTexts: How many texts were not searched for hosts, because they are large or there are many.
        tools: Tools that a skill asks for.
        scripts: By path, what shows that a file of a skill is a script: `extension`, `executable` or `shebang`.
    """

    entries: list[tuple[str, int, str]] | None = None
    otherEntries: str = ""  # noqa: N815 - as it is in JSON
    fonts: dict[str, list[Face]] = {}
    media: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    hosts: dict[str, list[str]] = {}
    otherHosts: int = 0  # noqa: N815 - as it is in JSON
    unsearchedTexts: int = 0  # noqa: N815 - as it is in JSON
    tools: list[str] = []
    scripts: dict[str, list[str]] = {}

    @property
    def are_exhaustive(self) -> bool:
        """Whether files with equal facts have the same contents. Of a picture, a sound or an animation in no archive, only details are recorded."""
        return self.entries is not None or "" in self.fonts


def parse_facts(recorded: Any) -> Facts | None:
    """Return recorded facts, None where there are none or they are not understood."""
    if not recorded:
        return None
    try:
        return Facts.model_validate(recorded)
    except ValidationError:
        return None
