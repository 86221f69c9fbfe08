"""Every tool, and the list of those that a token may call."""

from typing import Any

from ..calls import Call
from . import catalog, library, wallet
from .base import Tool

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*catalog.TOOLS, *library.TOOLS, *wallet.TOOLS)}


def list_tools(call: Call) -> dict[str, Any]:
    """Return the tools whose scope the token carries now, always in the same order."""
    call.refuse_cursor()
    return {"tools": [tool.definition for tool in TOOLS.values() if call.may(tool.scope)]}
