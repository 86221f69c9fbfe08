"""The manifest of an agent skill: its front matter, and size and SHA-256 of each of its files."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from .zip_directory import Entry

ROOT_FILE = "SKILL.md"
# The limits of the skills extension of the Model Context Protocol.
MAX_FILES = 512
TOTAL_BYTES = 16 * 2**20
FRONT_MATTER_CHARS = 8192
NAME = re.compile(r"(?!.{65})[a-z0-9]+(?:-[a-z0-9]+)*")
DESCRIPTION_CHARS = 1024
PATH_CHARS = 200
_FRONT_MATTER = re.compile(r"---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class _Loader(yaml.SafeLoader):
    """Loads the types of values that JSON has; a date stays a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def manifest_of(files: Sequence[Entry], read: Callable[[Entry, int], bytes]) -> dict[str, Any] | None:
    """Return `frontmatter` and `files` as `[path, bytes, SHA-256]`, None where agents could not install the archive as a skill.

    It raises whatever the parsers raise on damaged bytes.
    """
    if len(files) > MAX_FILES or sum(file.size for file in files) > TOTAL_BYTES or not _are_plain([file.path for file in files]):
        return None
    rows: list[list[str | int]] = []
    front_matter = None
    for file in files:
        content = read(file, file.size)
        if len(content) != file.size:
            return None
        if file.path == ROOT_FILE:
            front_matter = _front_matter(content)
        rows.append([file.path, file.size, hashlib.sha256(content).hexdigest()])
    return None if front_matter is None else {"frontmatter": front_matter, "files": rows}


def _are_plain(paths: Sequence[str]) -> bool:
    """Tell whether every system unpacks these paths to different files below the target folder."""
    parts = [part for path in paths for part in path.split("/")]
    return (
        len({path.casefold() for path in paths}) == len(paths)
        and all(path.isprintable() and len(path) <= PATH_CHARS and not set(path) & set('\\:*?"<>|') for path in paths)
        and not {"", ".", ".."} & set(parts)
    )


def load_yaml(text: str) -> Any:
    """Return the value of a YAML document; None where it is too long or has aliases, since a few lines of them expand to gigabytes."""
    if len(text) > FRONT_MATTER_CHARS or any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        return None
    return yaml.load(text, _Loader)  # noqa: S506 - a safe loader


def _front_matter(content: bytes) -> dict[str, Any] | None:
    """Return the front matter as JSON values, None where it is not that of a skill; raises whatever the parsers raise on damaged bytes."""
    match = _FRONT_MATTER.match(content.decode("utf-8-sig"))
    values = None if match is None else load_yaml(match[1])
    if values is None:
        return None
    name, description = values.get("name"), values.get("description")
    if not (isinstance(name, str) and NAME.fullmatch(name) and isinstance(description, str)):
        return None
    if not 0 < len(description.strip()) <= len(description) <= DESCRIPTION_CHARS:
        return None
    # Raises for what JSON does not have, such as NaN and bytes.
    return json.loads(json.dumps(values, allow_nan=False))  # type: ignore[no-any-return]
