"""Runs the public conformance suite: `python -m tests.mcp.conformance [--scratch FOLDER]`.

A server is filled with the demo's content and started, the suite is installed from the npm registry at a fixed version,
and every server scenario of the two newest sets of requirements is run. It ends with a table, and with a status other
than 0 when a check that applies has failed.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.servers import Unavailable

from . import suite
from .shop import open_shop


def show(scenarios: list[suite.Scenario], console: Console) -> bool:
    table = Table("Revision", "Scenario", "Outcome", "Checks passed", "Why the rest does not apply, or what failed", title=suite.PACKAGE)
    for scenario in scenarios:
        notes = scenario.failures or [*sorted(scenario.reasons), *scenario.warnings]
        table.add_row(scenario.revision, scenario.name, scenario.outcome, str(scenario.passed), "; ".join(notes))
    console.print(table)
    outcomes = Counter(scenario.outcome for scenario in scenarios)
    console.print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    return not outcomes["FAILED"]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--scratch", type=Path, help="a folder to keep the reports in; a temporary one when left out")
    given = options.parse_args()
    console = Console(width=200)
    with tempfile.TemporaryDirectory(prefix="conformance-") as temporary:
        scratch = given.scratch or Path(temporary) / "suite"
        scratch.mkdir(parents=True, exist_ok=True)
        data = Path(temporary) / "shop"
        data.mkdir()
        try:
            with console.status("Installing the suite"):
                modules = suite.install()
        except Unavailable as reason:
            console.print(f"The suite cannot be had: {reason}.")
            return 1
        with console.status("Opening a shop and running every scenario"), open_shop(data) as shop:
            scenarios = suite.run(scratch.resolve(), modules, f"{shop.base_url}/mcp")
        return 0 if show(scenarios, console) else 1


if __name__ == "__main__":
    sys.exit(main())
