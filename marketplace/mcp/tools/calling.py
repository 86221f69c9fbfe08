"""Runs a tool. Errors that the model can correct are returned as results with advice; those that only the client can, as protocol errors."""

import re
from typing import Any

import orjson
from mcp_types import INVALID_PARAMS
from rest_framework import serializers

from marketplace.api.problems import as_problem, problem_document
from marketplace.core.errors import InvalidInput, Problem

from ..calls import Call
from ..responses import ProtocolError
from . import schemas
from .base import Arguments, Tool
from .hints import next_step
from .registry import TOOLS

NAME_CHARS = 100


def call_tool(call: Call) -> dict[str, Any]:
    """Return the result of a tool.

    Raises:
        ProtocolError: there is no such tool.
        InsufficientScope: the token may not call it.
        Problem: a part of the service is down.
    """
    name = call.params["name"]
    tool = TOOLS.get(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name[:NAME_CHARS]}")
    call.begin(f"tool {tool.name}", tool.scope)
    try:
        return _result_of(tool, call)
    except (Problem, serializers.ValidationError) as error:
        problem = as_problem(error)
        if problem.status >= 500:
            raise
        call.record_status(problem.status)
        return _failure(problem, call)


def _result_of(tool: Tool, call: Call) -> dict[str, Any]:
    arguments: Arguments = call.params.get("arguments") or {}
    _check_arguments(tool, arguments)
    result = tool.run(call.principal, arguments)
    content = [
        {"type": "text", "text": result.text},
        # For clients that show models nothing but text.
        {"type": "text", "text": result.body.decode()},
        *(link.model_dump(mode="json", by_alias=True, exclude_none=True) for link in result.links),
    ]
    return {"content": content, "structuredContent": orjson.Fragment(result.body), "isError": False}


def _check_arguments(tool: Tool, arguments: Arguments) -> None:
    found = schemas.validation_errors(tool.input_schema, arguments)
    errors = [{"pointer": f"#/{name}", "code": code, "detail": detail} for name, code, detail in found]
    if errors:
        raise InvalidInput(errors=errors)


def _failure(problem: Problem, call: Call) -> dict[str, Any]:
    """Return a refusal as a sentence with advice, and as the problem document."""
    if isinstance(problem, InvalidInput) and (faults := problem.members.get("errors")):
        # Tools have arguments instead of query parameters.
        problem = InvalidInput(errors=[fault | {"pointer": re.sub(r"^\?", "#/", fault["pointer"])} for fault in faults])
    shown = problem_document(problem, call.request.path)
    sentence = f"{problem.code}: {problem.message} {next_step(problem)}".strip()
    texts = (sentence, orjson.dumps(shown, option=orjson.OPT_UTC_Z).decode())
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": True}
