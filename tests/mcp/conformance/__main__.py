"""Runs the public conformance suite: `python -m tests.mcp.conformance`.

A server is filled with the demo's content and started, the suite is installed from the npm registry at a fixed version,
and every server scenario of the two newest sets of requirements is run. Each is a line in the end, and the status is
other than 0 when a check that applies has failed.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests import command_line
from tests.servers import Unavailable

from . import suite
from .shop import open_shop


def show(scenarios: list[suite.Scenario]) -> bool:
    """Print a line for each and return whether nothing that applies has failed."""
    for scenario in sorted(scenarios, key=lambda each: (each.revision, each.name)):
        notes = scenario.failures or [*sorted(scenario.reasons), *scenario.warnings]
        sys.stdout.write(f"{scenario.revision} {scenario.name}: {scenario.outcome}, {scenario.passed} checks passed. {'; '.join(notes)}\n")
    outcomes = Counter(scenario.outcome for scenario in scenarios)
    sys.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) + "\n")
    return not outcomes["FAILED"]


def main() -> int:
    command_line("tests.mcp.conformance", __doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="conformance-") as temporary:
        scratch, data = Path(temporary) / "suite", Path(temporary) / "shop"
        scratch.mkdir()
        data.mkdir()
        try:
            modules = suite.install()
        except Unavailable as reason:
            sys.stdout.write(f"The suite cannot be had: {reason}.\n")
            return 1
        with open_shop(data) as shop:
            return 0 if show(suite.run(scratch, modules, f"{shop.base_url}/mcp")) else 1


if __name__ == "__main__":
    sys.exit(main())
