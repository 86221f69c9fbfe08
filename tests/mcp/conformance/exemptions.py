"""What of the suite does not apply to this server, and why.

A failed check is excused only by its scenario together with the suite's own words for what is missing: whatever else
goes wrong in the same scenario counts.
"""

import re
from dataclasses import dataclass

_FIXTURE_TOOLS = r"test_\w+|greet|slow_compute|failing_job|protocol_error_job|confirm_delete|multi_input"


@dataclass(frozen=True)
class Exemption:
    """Why a check does not apply, by patterns of the scenario's name and of what the suite says of the failure."""

    scenarios: str
    words: str
    reason: str


EXEMPTIONS = (
    Exemption(r"server-(sse|session)-.*", r"^$", "for servers with sessions or streams; here there are neither"),
    Exemption(r"tasks-status-notifications", r"^$", "the extension io.modelcontextprotocol/tasks, which we do not advertise"),
    Exemption(
        r"tasks-.*",
        r"extensions MUST be advertised|MUST be present|spec requires -32021|MUST return -32021|got -32601|no task was created|routing-task fixture|"
        rf"Unknown tool: ({_FIXTURE_TOOLS})",
        "the extension io.modelcontextprotocol/tasks, which we do not advertise: no tool of ours runs for long",
    ),
    Exemption(
        r"(tools-call|input-required-result|elicitation)-.*",
        rf"Unknown (tool|prompt): ({_FIXTURE_TOOLS})",
        "it calls a tool or prompt of the suite's own test server",
    ),
    Exemption(r"tools-call-with-logging|logging-set-level", r"Unknown method", "the capability logging, which we do not declare"),
    Exemption(
        r"input-required-result-(multi-round|missing-input-response)",
        r"InputRequiredResult",
        "it calls a tool of the suite's own test server",
    ),
    Exemption(
        r"input-required-result-tampered-state",
        r"could not get initial InputRequiredResult",
        "it calls a tool of the suite's own test server; no tool of ours asks back",
    ),
    Exemption(r"prompts-get-.*", rf"Unknown prompt: ({_FIXTURE_TOOLS})", "it asks for a prompt of the suite's own test server"),
    Exemption(r"resources-(templates-)?read.*", r"Resource not found", "it reads a test:// resource of the suite's own test server"),
    Exemption(r"resources-(un)?subscribe", r"Unknown method", "the capability resources.subscribe, which we do not declare"),
    Exemption(r"json-schema-2020-12", r"Tool 'json_schema_2020_12_tool' not found", "it looks for a tool of the suite's own test server"),
    Exemption(
        r"http-custom-header-server-validation",
        r"server exposes no tool with x-mcp-header",
        "for servers with x-mcp-header annotations; no tool of ours has one",
    ),
    Exemption(
        r"server-stateless",
        r"does not list the diagnostic tool",
        "this check needs a diagnostic tool of the suite's own test server; the scenario's other checks count",
    ),
)


def reason_for(scenario: str, words: str) -> str:
    """Return why a failed check does not apply, nothing when it does."""
    return next(
        (one.reason for one in EXEMPTIONS if re.fullmatch(one.scenarios, scenario) and re.search(one.words, words)),
        "",
    )
