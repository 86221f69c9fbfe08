"""A call of the API as code: for a shell, in Python, in JavaScript. Each can be run as it is."""

import json
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_JSON = "application/json"
_FORM = """\
import { openAsBlob } from "node:fs";
const form = new FormData();
form.append("file", await openAsBlob("file.zip"), "file.zip");"""


class Credential(StrEnum):
    """The credential of a call; the value is the name of the variable that holds it."""

    NONE = ""
    KEY = "KEY"
    TOKEN = "TOKEN"


@dataclass(frozen=True)
class ApiCall:
    """One call."""

    method: str
    # Complete and escaped.
    url: str
    credential: Credential = Credential.NONE
    headers: Mapping[str, str] = field(default_factory=dict)
    # The JSON body; None without one.
    body: Any = None
    # Whether a file is sent, `file.zip` here.
    upload: bool = False
    # The media type of the response.
    response_type: str = _JSON

    @property
    def saved_as(self) -> str:
        """The name of the file for a response that is not JSON; empty for JSON."""
        return "" if self.response_type in {_JSON, ""} else f"response{mimetypes.guess_extension(self.response_type) or '.bin'}"


def snippets(call: ApiCall) -> list[tuple[str, str, str]]:
    """Return the call in each language: the language's name, its name for the highlighter, the code."""
    return [("curl", "bash", _curl(call)), ("Python", "python", _python(call)), ("JavaScript", "javascript", _javascript(call))]


def _curl(call: ApiCall) -> str:
    method = "" if call.method == "GET" else f"-X {call.method} "
    lines = [f"curl {method}{_quoted(call.url)}"]
    secret = {Credential.KEY: ['-H "X-Api-Key: $KEY"'], Credential.TOKEN: ['-H "Authorization: Bearer $TOKEN"']}
    lines += secret.get(call.credential, [])
    lines += [f"-H {_quoted(f'{name}: {value}')}" for name, value in call.headers.items()]
    lines += ["-F file=@file.zip"] if call.upload else []
    if call.body is not None:
        lines += [f"-H 'Content-Type: {_JSON}'", f"-d {_quoted(json.dumps(call.body, ensure_ascii=False))}"]
    lines += [f"-o {call.saved_as}"] if call.saved_as else []
    return " \\\n     ".join(lines)


def _quoted(text: str) -> str:
    """Return the text, quoted for a shell."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _python(call: ApiCall) -> str:
    secret = {Credential.KEY: ['"X-Api-Key": os.environ["KEY"]'], Credential.TOKEN: ['"Authorization": f"Bearer {os.environ[\'TOKEN\']}"']}
    headers = [*secret.get(call.credential, []), *(f"{_literal(name)}: {_literal(value)}" for name, value in call.headers.items())]
    lines = [f"    {_literal(call.url)},"]
    lines += [f"    headers={{{', '.join(headers)}}},"] if headers else []
    lines += ['    files={"file": open("file.zip", "rb")},'] if call.upload else []
    lines += [f"    json={_literal(call.body)},"] if call.body is not None else []
    end = f'open("{call.saved_as}", "wb").write(response.content)' if call.saved_as else "print(response.json())"
    imports = "import os, requests" if call.credential else "import requests"
    return "\n".join([imports, "", f"response = requests.{call.method.lower()}(", *lines, ")", end])


def _literal(value: Any) -> str:
    """Return a JSON value as Python writes it."""
    match value:
        case None | True | False:
            return repr(value)
        case dict():
            return "{" + ", ".join(f"{_literal(name)}: {_literal(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case _:
            # The escapes of JSON are those of Python, except for lone surrogates, which neither can send.
            return json.dumps(value, ensure_ascii=False)


def _javascript(call: ApiCall) -> str:
    secret = {Credential.KEY: ['"X-Api-Key": process.env.KEY'], Credential.TOKEN: ['"Authorization": `Bearer ${process.env.TOKEN}`']}
    headers = [*secret.get(call.credential, []), *(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in call.headers.items())]
    headers += [f'"Content-Type": "{_JSON}"'] if call.body is not None else []
    options = [] if call.method == "GET" else [f'  method: "{call.method}",']
    options += [f"  headers: {{ {', '.join(headers)} }},"] if headers else []
    options += ["  body: form,"] if call.upload else []
    options += [f"  body: JSON.stringify({json.dumps(call.body, ensure_ascii=False)}),"] if call.body is not None else []
    fetch = f"const response = await fetch({json.dumps(call.url)}" + (", {\n" + "\n".join(options) + "\n}" if options else "") + ");"
    before = ['import { writeFile } from "node:fs/promises";'] if call.saved_as else []
    before += [_FORM] if call.upload else []
    save = f'await writeFile("{call.saved_as}", Buffer.from(await response.arrayBuffer()));'
    return "\n".join([*before, fetch, save if call.saved_as else "console.log(await response.json());"])
