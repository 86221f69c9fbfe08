"""`python -m benchmarks.catalog`: serve catalogs of several sizes, and compare them with a bare Django view in the same run."""

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import django
import requests

from tests.servers.nginx import nginx
from tests.servers.postgres import postgres
from tests.servers.redis import redis

from .load import CONNECTIONS, Load, Rate
from .servers import SERVICE, THREADS, YARDSTICK, Server, environment, make_tables, seed, serving
from .statements import latencies
from .subjects import DEEP, LIMIT, Subject, subjects

RESULT = Path(__file__).resolve().parent.parent / "catalog.md"


@dataclass(frozen=True)
class Line:
    """A row of the table: the figures of a subject, and those of the yardstick just before it."""

    name: str
    rate: Rate
    cpu: float
    yardstick: Rate
    yardstick_cpu: float
    goal: float | None
    busy: bool

    @property
    def ratio(self) -> float:
        """Requests per second, divided by those of the yardstick."""
        return self.rate.per_second / self.yardstick.per_second

    @property
    def cpu_ratio(self) -> float:
        """The yardstick's processor time for a response, divided by that of this subject."""
        return self.yardstick_cpu / self.cpu

    def __str__(self) -> str:
        judged = self.cpu_ratio if self.busy else self.ratio
        goal = "" if self.goal is None else f"≥ {self.goal:g}: {'met' if judged >= self.goal else '**missed**'}"
        refused = f" ({self.rate.refused} refused)" if self.rate.refused else ""
        speed = f"{self.rate.per_second:,.0f} | {self.rate.median:.1f} | {self.rate.p99:.1f} | {self.ratio:.3f} | {goal}"
        return f"| {self.name}{refused} | {speed} | {self.cpu * 1e6:,.0f} | {self.cpu_ratio:.2f} |"


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.catalog", description=__doc__)
    parser.add_argument("--listings", help="sizes of the catalog (10000,100000)")
    parser.add_argument("--engine", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument(
        "--cache", choices=["memory", "redis", "both"], default="both", help="the cache of responses (both; on SQLite: memory)"
    )
    parser.add_argument("--seconds", type=int, default=3, help="duration of the measurement of each row (3)")
    parser.add_argument(
        "--database",
        action="append",
        default=[],
        metavar="LISTINGS=ADDRESS",
        help="use a PostgreSQL database that has been seeded with this many listings, instead of making one; --listings is not needed then. Can be repeated",
    )
    parser.add_argument("--without-search", action="store_true", help="leave out searches, for a database without a search index")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    given = parser.parse_args()
    given.databases = {int(size): address for size, _, address in (text.partition("=") for text in given.database)}
    given.sizes = [int(text) for text in given.listings.split(",")] if given.listings else sorted(given.databases) or [10_000, 100_000]
    return given


def measure(given: argparse.Namespace, size: int, folder: Path, load: Load) -> Iterator[str]:
    """Yield the lines of the sections about a catalog of one size."""
    with ExitStack() as stack:
        env, seeded = environment(folder), given.databases.get(size)
        if given.engine == "postgres":
            env |= {"DATABASE_URL": seeded or stack.enter_context(postgres())}
        if not seeded:
            make_tables(env)
            seed(env, size)
        yardstick = stack.enter_context(serving(YARDSTICK, os.environ, "/page"))
        caches = ["memory", "redis"] if given.cache == "both" and given.engine == "postgres" else [given.cache.replace("both", "memory")]
        for cache in caches:
            shared = {"REDIS_URL": f"{stack.enter_context(redis())}/0"} if cache == "redis" else {}
            yield f"\n## {size:,} listings, {given.engine}, answers in {cache}\n"
            yield f"Settings: {_settings(given.engine, cache)}.\n"
            yield f"{datetime.now(tz=UTC):%Y-%m-%d}, load average {os.getloadavg()[0]:.1f} at the start, {given.seconds} s for each row.\n"
            with serving(SERVICE, env | shared, "/api/v1/categories") as service, nginx([service.address], host="localhost") as proxy:
                edge = Server(f"https://localhost:{proxy.port}", int((proxy.folder / "pid").read_text()))
                rows = [
                    subject
                    for subject in subjects(service.address, edge.address)
                    if not (given.without_search and "search" in subject.name)
                ]
                yield from table(load, yardstick, service, edge, rows)
        if given.engine == "postgres":
            yield f"\n## {size:,} listings, {given.engine}: the statement alone, by pgbench over one connection\n"
            yield from statements(env, min(DEEP, size // LIMIT), given.seconds)


def table(load: Load, yardstick: Server, service: Server, edge: Server, rows: Sequence[Subject]) -> Iterator[str]:
    """Yield the table of one running service and of nginx in front of it; the yardstick runs before each row."""
    yield "| what | requests/s | median ms | p99 ms | of bare Django's | goal | µs of processor | bare Django's µs ÷ this |"
    yield "|---|--:|--:|--:|--:|---|--:|--:|"
    lines: list[Line] = []
    for subject in rows:
        bare, bare_cpu = _measured(yardstick, lambda: load.same(f"{yardstick.address}/page"))
        rate, cpu = _measured(edge if subject.at_the_edge else service, partial(subject.ask, load))
        lines.append(Line(subject.name, rate, cpu, bare, bare_cpu, subject.goal, busy()))
        yield str(lines[-1])
    mean = statistics.mean(line.yardstick.per_second for line in lines)
    yield f"| *bare Django JSON view, mean of {len(lines)} runs* | {mean:,.0f} | | | 1 | | {statistics.mean(line.yardstick_cpu for line in lines) * 1e6:,.0f} | 1 |"
    first = next(line for line in lines if line.name.endswith("popular"))
    deep = next(line for line in lines if "built: cursor" in line.name)
    times = deep.cpu / first.cpu
    first_visit = deepest_for_the_first_time(service)
    yield f"\nThe first visit to the deepest page of an order after a start, which counts the places on the way: {first_visit:.0f} ms."
    yield f"\n{deep.name.removeprefix('browse, built: ')} costs {times:.1f} times page 1 by processor time (goal ≤ 2: {'met' if times <= 2 else '**missed**'})."


def busy() -> bool:
    """Tell whether other programs are using the processors."""
    return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)


def _settings(engine: str, cache: str) -> str:
    """Return the settings as the report names them, by which a test checks which figures the README may quote."""
    return ", ".join(
        ({"postgres": "PostgreSQL", "sqlite": "SQLite"}[engine], {"redis": "Redis", "memory": "cache in memory"}[cache], "nginx")
    )


def deepest_for_the_first_time(service: Server) -> float:
    """Return the milliseconds of the first request for a deep page, in the order `newest`, of which no row of the table requests deep pages."""
    total = requests.get(f"{service.address}/api/v1/assets?sort=newest", timeout=60).json()["total"]
    began = time.monotonic()
    requests.get(f"{service.address}/api/v1/assets?sort=newest&page={max(1, min(DEEP, total // LIMIT))}", timeout=60).raise_for_status()
    return (time.monotonic() - began) * 1000


def _measured(server: Server, ask: Callable[[], Rate]) -> tuple[Rate, float]:
    """Return a run's rate, and the server's processor time for one response."""
    before = server.cpu()
    rate = ask()
    return rate, (server.cpu() - before) / max(rate.answers, 1)


def statements(env: dict[str, str], page: int, seconds: int) -> Iterator[str]:
    """Yield the time that the database alone takes for a page."""
    means = latencies(env, start=(page - 1) * LIMIT, seconds=seconds)
    if means is None:
        return
    yield "| what | ms |\n|---|--:|"
    yield from (f"| {name} | {mean:.2f} |" for name, mean in means.items())


def heading() -> str:
    """Return the beginning of the report: where and how it was measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"# Serving the catalog\n\n{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"Django {django.get_version()}. granian, one worker, {THREADS} threads; wrk with {CONNECTIONS} connections on the same machine, "
        "a bare Django JSON view under the same server just before each row. Goals are judged by requests per second, divided by those of that "
        "view, or by processor time while other programs were running (a load average above two for each core). The processor time is that of the server (of nginx where the response is from its cache, over TLS), without that of the database and Redis: a busy machine distorts it least. "
        "Rows named `built` request responses that are not cached. Calls are counted against rate limits, but never refused. "
        "For a slow response, wrk also counts the requests that it could have sent meanwhile (its correction for coordinated omission): "
        "in a run of a second, one response that took half of it is the p99 of a fast row. The median is hardly affected.\n"
    )


def merged(before: str, lines: list[str]) -> str:
    """Return the report in which the sections of this run replace those with the same titles."""
    sections = _sections(before) | _sections("\n".join(["", *lines]))
    by_size = sorted(
        sections.items(),
        key=lambda item: (item[0].partition(", ")[2].startswith("sqlite"), int(item[0].partition(" ")[0].replace(",", ""))),
    )
    return heading() + "".join(f"\n## {title}\n\n{text.strip()}\n" for title, text in by_size)


def _sections(text: str) -> dict[str, str]:
    """Return the text under each title."""
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {title: content for title, _, content in parts}


def main() -> None:
    """Measure, print the report and save it."""
    given = arguments()
    load, lines = Load(given.seconds), []
    print(heading())
    for size in given.sizes:
        with tempfile.TemporaryDirectory(prefix="marketplace-bench-") as folder:
            for line in measure(given, size, Path(folder), load):
                print(line, flush=True)
                lines.append(line)
    if not given.no_file:
        before = RESULT.read_text(encoding="utf-8") if RESULT.exists() else ""
        RESULT.write_text(merged(before, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
