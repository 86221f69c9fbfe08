"""`python -m benchmarks.mcp`: compare each tool call with the equivalent request to the API, at one running service.

Calls of the two take turns, in blocks, over one connection each; what counts is the server's processor time for one answer.
"""

import argparse
import http.client
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import django

from benchmarks.catalog.servers import SERVICE, Server, environment, inside, make_tables, seed, serving
from tests.servers.postgres import postgres
from tests.servers.redis import redis

from .subjects import Call, Pair, pairs

RESULT = Path(__file__).resolve().parent.parent / "mcp.md"
GOAL = 1.3
SETTINGS = {"postgres": "PostgreSQL, Redis", "sqlite": "SQLite, cache in memory"}
BLOCK = 200
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
LIMITLESS = {f"RATE_LIMIT_{name}": "1000000000" for name in ("API_KEY", "BEARER_APP", "BEARER_USER")}


@dataclass
class Side:
    """The measurements of one interface, MCP or API.

    Args:
        times: Milliseconds of each call.
        cpu: The server's processor time, in seconds.
    """

    times: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def micros(self) -> float:
        """Processor time for one response; the system usually counts it in ticks of 10 ms."""
        return max(self.cpu, TICK_SECONDS) / len(self.times) * 1e6


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mcp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--listings", type=int, default=2000, help="size of the catalog (2000)")
    parser.add_argument("--engine", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--calls", type=int, default=1000, help="calls of the tool and of the API operation for each row (1000)")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    return parser.parse_args()


def compared(pair: Pair, server: Server, held: dict[str, str], calls: int) -> tuple[Side, Side]:
    """Measure a pair, alternating between the two interfaces."""
    tool, twin, number = Side(), Side(), 0
    # Manifests require an API key.
    keyed = pair.tool == "get_asset_manifest"
    credential = {"X-Api-Key": held["key"]} if keyed else {"Authorization": f"Bearer {held['personal']}"}
    with ExitStack() as stack:
        connection = http.client.HTTPConnection(urlsplit(server.address).netloc)
        stack.callback(connection.close)
        sides: list[tuple[Side, Callable[[int], Call]]] = [
            (tool, lambda number: pair.by_tool(held["token"], number)),
            (twin, lambda number: pair.by_twin(credential, number)),
        ]
        for side, make in sides:
            # Fills caches, and checks the responses.
            _asked(connection, make(0), side)
            side.times.clear()
        for done in range(0, calls, BLOCK):
            for side, make in sides:
                before = server.cpu()
                for _ in range(min(BLOCK, calls - done)):
                    number += 1
                    _asked(connection, make(number), side)
                side.cpu += server.cpu() - before
    return tool, twin


def _asked(connection: http.client.HTTPConnection, call: Call, side: Side) -> None:
    began = time.perf_counter()
    connection.request(call.method, call.path, call.body or None, dict(call.headers))
    answer = connection.getresponse()
    body = answer.read()
    side.times.append((time.perf_counter() - began) * 1000)
    if answer.status != 200 or b'"isError":true' in body:
        raise SystemExit(f"{call.method} {call.path} was answered {answer.status}: {body[:300]!r}")


def measure(given: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    with ExitStack() as stack:
        env = environment(folder, **LIMITLESS)
        if given.engine == "postgres":
            env |= {"DATABASE_URL": stack.enter_context(postgres()), "REDIS_URL": f"{stack.enter_context(redis())}/0"}
        make_tables(env)
        seed(env, given.listings)
        held: dict[str, str] = json.loads(inside(env, "benchmarks.mcp.prepare").splitlines()[-1])
        server = stack.enter_context(serving(SERVICE, env, "/api/v1/categories"))
        yield "| what | tool ms | twin ms | ratio | tool µs of processor | twin µs of processor | ratio | goal |"
        yield "|---|--:|--:|--:|--:|--:|--:|---|"
        ratios = []
        for pair in pairs(held["slug"], held["owned"]):
            tool, twin = compared(pair, server, held, given.calls)
            medians = statistics.median(tool.times), statistics.median(twin.times)
            ratios.append(tool.micros / twin.micros)
            verdict = "met" if max(ratios[-1], medians[0] / medians[1]) <= GOAL else "**missed**"
            spent = f"{tool.micros:,.0f} | {twin.micros:,.0f} | {ratios[-1]:.2f}"
            yield f"| {pair.name} | {medians[0]:.2f} | {medians[1]:.2f} | {medians[0] / medians[1]:.2f} | {spent} | ≤ {GOAL}: {verdict} |"
        yield f"\nGeometric mean of the ratios of processor time: {statistics.geometric_mean(ratios):.2f}."


def heading(given: argparse.Namespace) -> str:
    """Return when, where and how it was measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"# Tool calls beside their twins in the API\n\nSettings: {SETTINGS[given.engine]}.\n\n{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores, {memory:.0f} GiB, Python "
        f"{platform.python_version()}, Django {django.get_version()}, {given.engine}, {given.listings:,} listings, load average {os.getloadavg()[0]:.1f} at "
        f"the start. granian, one worker; {given.calls} calls of the tool and of the API operation for each row, in turns of {BLOCK} over one connection, the tool with an "
        "MCP token, its twin with a bearer token of the same user (manifests: an API key). `ready`: the same call is repeated, and its response is cached; `built`: each "
        "call is new, so that no response is cached.\n"
    )


def main() -> None:
    """Measure, print the report and save it."""
    given = arguments()
    lines = [heading(given)]
    print(lines[0])
    with tempfile.TemporaryDirectory(prefix="marketplace-bench-") as folder:
        for line in measure(given, Path(folder)):
            print(line, flush=True)
            lines.append(line)
    if not given.no_file:
        RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
