"""Installs the suite at a fixed version, runs it, and reads its reports."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.tools import install_packages

from .exemptions import reason_for

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# The suite needs a newer one than many systems have.
NODE = "node@22.23.3"
# Each has its own set of required scenarios, frozen at its release.
REVISIONS = ("2026-07-28", "2025-11-25")
# Of the extension for skills, which no set of requirements includes.
EXTENSION = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
_FOLDER = re.compile(r"(?:authorization-)?server-(.+)-\d{4}-\d\d-\d\dT[-\dZ]+")


@dataclass
class Scenario:
    """What came of a scenario: checks that passed, failures and warnings in the suite's words, and why others do not apply."""

    revision: str
    name: str
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    @property
    def outcome(self) -> str:
        """Return it in a word or two; every scenario has one check of its messages' schema beside its own."""
        if self.failures:
            return "FAILED"
        return "passed" if not self.reasons else "passed in part" if self.passed > 1 else "does not apply"


def install() -> Path:
    """Install the suite, with a Node.js of its own, and return their folder.

    Raises:
        Unavailable: there is no npm, or no registry.
    """
    return install_packages("conformance", PACKAGE, NODE)


def run(folder: Path, modules: Path, address: str) -> list[Scenario]:
    """Run every server scenario of each revision, of the extension, and of the OAuth metadata, and return what came of it."""
    scenarios = []
    for revision in REVISIONS:
        scenarios += _reports(folder, modules, revision, "server", "--url", address, "--requirements", revision)
    for name in EXTENSION:
        scenarios += _reports(folder, modules, "extension", "server", "--url", address, "--scenario", name)
    # The authorization server is ours too.
    issuer = address.removesuffix("/mcp")
    words = ("authorization", "--url", issuer, "--scenario", "authorization-server-metadata-endpoint")
    return scenarios + _reports(folder, modules, "any", *words)


def _reports(folder: Path, modules: Path, revision: str, *words: str) -> list[Scenario]:
    reports = folder / f"reports-{revision}"
    # Those of an earlier run.
    shutil.rmtree(reports, ignore_errors=True)
    program = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [str(modules / "node" / "bin" / "node"), str(program), *words, "--output-dir", str(reports)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
    found = [_read(revision, path) for path in sorted(reports.glob("*/checks.json"))]
    if not found:
        raise RuntimeError(f"The suite wrote no report: {done.stdout[-500:]}{done.stderr[-500:]}")
    return found


def _read(revision: str, report: Path) -> Scenario:
    match = _FOLDER.fullmatch(report.parent.name)
    scenario = Scenario(revision, match[1] if match else report.parent.name)
    for check in json.loads(report.read_text("utf-8")):
        words = f"{check.get('errorMessage') or ''}"
        reason = reason_for(scenario.name, words)
        if check["status"] in {"FAILURE", "WARNING"} and reason:
            scenario.reasons.add(reason)
        elif check["status"] == "FAILURE":
            scenario.failures.append(f"{check['id']}: {words}")
        elif check["status"] == "WARNING":
            scenario.warnings.append(f"{check['id']}: {words}")
        elif check["status"] == "SUCCESS":
            scenario.passed += 1
    if not scenario.passed and not scenario.failures:
        scenario.reasons.add(reason_for(scenario.name, "") or "the suite found nothing to check")
    return scenario
