"""The extension `io.modelcontextprotocol/skills` (SEP-2640): free and owned skills with the digests of their files, which are resources."""

import base64
import mimetypes
from typing import Any
from urllib.parse import quote, unquote

from mcp_types import INVALID_PARAMS, Resource

from library.agent_skills import AgentSkill, file_of, free_skills, owned_skills
from marketplace.core import bounds
from marketplace.core.errors import NotFound
from marketplace.core.scopes import Scope

from .method_calls import MethodCall
from .responses import ProtocolError

SCHEME = "skill://"
ROOT_FILE = "SKILL.md"


def list_skills(call: MethodCall) -> dict[str, Any]:
    """Return the skills that the user owns and those that are free, each once, as far as the token may read them."""
    call.refuse_cursor()
    call.begin("skills/list", None)
    return {"skills": [_entry(skill) for skill in _skills(call)]}


def get_skill(call: MethodCall) -> dict[str, Any]:
    """Return the skill of a URI.

    Raises:
        ProtocolError: there is none, or the token may not read it.
    """
    call.begin("skills/get", None)
    uri: str = call.params["uri"]
    try:
        skill, path = _skill_at(call, uri)
    except NotFound as error:
        raise _unknown(uri) from error
    if path != ROOT_FILE:
        raise _unknown(uri)
    return {"skill": _entry(skill)}


def root_files(call: MethodCall) -> list[Resource]:
    """Return the SKILL.md of each skill that the token may read, as a resource."""
    return [
        Resource(uri=_uri(skill, ROOT_FILE), name=skill.name, description=skill.description, mime_type="text/markdown")
        for skill in _skills(call)
    ]


def read_file(call: MethodCall, uri: str) -> dict[str, Any]:
    """Return a file of a skill as the contents of a resource.

    Raises:
        NotFound: there is none, or the token may not read it.
        Problem: what `library.agent_skills.file_of` raises.
    """
    skill, path = _skill_at(call, uri)
    content = file_of(skill, path, principal=call.principal)
    kind = "text/markdown" if path.endswith(".md") else mimetypes.guess_type(path)[0]
    try:
        return {"uri": uri, "mimeType": kind or "text/plain", "text": content.decode()}
    except UnicodeDecodeError:
        return {"uri": uri, "mimeType": kind or "application/octet-stream", "blob": base64.b64encode(content).decode()}


def _skills(call: MethodCall, slug: str | None = None) -> list[AgentSkill]:
    owned = owned_skills(call.principal.user, slug) if call.may(Scope.LIBRARY_READ) and call.may(Scope.LIBRARY_DOWNLOAD) else []
    known = {skill.listing.pk for skill in owned}
    free = free_skills(slug) if call.may(Scope.CATALOG_READ) else []
    return [*owned, *(skill for skill in free if skill.listing.pk not in known)]


def _skill_at(call: MethodCall, uri: str) -> tuple[AgentSkill, str]:
    """Return the skill and the path in it that a URI names."""
    if not uri.startswith(SCHEME) or len(uri) > bounds.URL_CHARS:
        raise NotFound
    slug, _, rest = uri.removeprefix(SCHEME).partition("/")
    name, _, path = rest.partition("/")
    if "\0" in slug:
        raise NotFound
    for skill in _skills(call, slug):
        if skill.name == name and _uri(skill, unquote(path)) == uri:
            return skill, unquote(path)
    raise NotFound


def _uri(skill: AgentSkill, path: str) -> str:
    # The listing's slug first, since skills of different vendors may have one name.
    return f"{SCHEME}{skill.listing.slug}/{skill.name}/{quote(path)}"


def _entry(skill: AgentSkill) -> dict[str, Any]:
    """Return a skill as the extension describes it."""
    files = [{"uri": _uri(skill, path), "digest": f"sha256:{digest}", "size": size} for path, size, digest in skill.contents["files"]]
    return {"uri": _uri(skill, ROOT_FILE), "frontmatter": skill.contents["frontmatter"], "resources": files}


def _unknown(uri: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, "There is no such skill.", data={"uri": uri[: bounds.URL_CHARS]})
