"""An AI skill's SKILL.md: the name and description of its front matter, and its text up to a bound."""

from typing import Any

from . import skill_manifests, texts

READ_BYTES = 256 * 2**10
TEXT_CHARS = 32 * 2**10
VALUE_CHARS = 2000
DELIMITER = "---"
# The keys of the list of tools; which of them counts differs between agents.
TOOL_KEYS = ("allowed-tools", "allowed_tools", "tools")


def is_skill_file(path: str) -> bool:
    """Tell whether a path is that of a SKILL.md, in capitals or not."""
    return path.rsplit("/", 1)[-1].upper() == "SKILL.MD"


def parse(content: bytes) -> dict[str, Any]:
    """Return `name`, `description`, `text`, `tools` that the skill asks for, and whether the text is `truncated`; what the file lacks is empty."""
    whole = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\x00", "")
    front, text = _split(whole)
    return {
        "name": _text(front.get("name")),
        "description": _text(front.get("description")),
        "text": text[:TEXT_CHARS],
        "tools": sorted({tool for name in TOOL_KEYS for tool in texts.tools_of(front.get(name))}),
        "truncated": len(text) > TEXT_CHARS or len(content) >= READ_BYTES,
    }


def _text(value: Any) -> str:
    """Return a value as one line of text, empty where it is a list or a mapping."""
    return "" if value is None or isinstance(value, list | dict) else " ".join(str(value).split())[:VALUE_CHARS]


def _split(whole: str) -> tuple[dict[str, Any], str]:
    if not whole.startswith(DELIMITER + "\n"):
        return {}, whole
    front, delimiter, text = whole[len(DELIMITER) + 1 :].partition(f"\n{DELIMITER}")
    if not delimiter:
        return {}, whole
    return _fields(front), text.lstrip("-").lstrip("\n")


def _fields(front: str) -> dict[str, Any]:
    """Return the values of the front matter; it is read line by line where it is not YAML, since people write colons into its values."""
    try:
        values = skill_manifests.load_yaml(front)
    except Exception:  # noqa: BLE001 - the parser raises anything on hostile text
        values = None
    return values if isinstance(values, dict) else _by_lines(front)


def _by_lines(front: str) -> dict[str, str]:
    """Parse the subset of YAML that skills use: plain, quoted and folded values of top-level keys."""
    values: dict[str, list[str]] = {}
    key = ""
    for line in front.split("\n"):
        if line[:1].isspace() or not line:
            if key:
                values[key].append(line.strip())
            continue
        name, colon, rest = line.partition(":")
        key = name.strip() if colon else ""
        if key:
            values[key] = [] if rest.strip() in {">", "|", ">-", "|-", ">+", "|+"} else [rest.strip()]
    return {key: _plain(" ".join(part for part in parts if part)) for key, parts in values.items()}


def _plain(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return value[:VALUE_CHARS]
