"""`python -m benchmarks.catalog`: serve catalogs of several sizes and compare with a bare Django view in the same run."""

import argparse
import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import django

from tests.servers.postgres import postgres
from tests.servers.redis import redis

from .load import CONNECTIONS, Load, Rate
from .servers import SERVICE, THREADS, YARDSTICK, Server, environment, manage, serving
from .statements import latencies
from .subjects import DEEP, LIMIT, subjects

RESULT = Path(__file__).resolve().parent.parent / "catalog.md"


@dataclass(frozen=True)
class Line:
    """A row of the table: the subject, and the yardstick just before it."""

    name: str
    rate: Rate
    cpu: float
    yardstick: Rate
    yardstick_cpu: float
    goal: float | None

    @property
    def ratio(self) -> float:
        """How many requests are answered in the processor time of one of the yardstick's."""
        return self.yardstick_cpu / self.cpu

    def __str__(self) -> str:
        goal = "" if self.goal is None else f"≥ {self.goal:g}: {'met' if self.ratio >= self.goal else '**missed**'}"
        refused = f" ({self.rate.refused} refused)" if self.rate.refused else ""
        speed = f"{self.rate.per_second:,.0f} | {self.rate.median:.1f} | {self.rate.p99:.1f} | {self.rate.per_second / self.yardstick.per_second:.2f}"
        return f"| {self.name}{refused} | {speed} | {self.cpu * 1e6:,.0f} | {self.ratio:.2f} | {goal} |"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.catalog", description=__doc__)
    parser.add_argument("--listings", default="10000,100000", help="sizes of the catalog (10000,100000)")
    parser.add_argument("--engine", choices=["postgres", "sqlite"], default="postgres")
    parser.add_argument("--cache", choices=["memory", "redis", "both"], default="both", help="where ready answers are kept; SQLite: memory")
    parser.add_argument("--seconds", type=int, default=3, help="of each row (3)")
    parser.add_argument("--database", help="the address of a seeded PostgreSQL database; none is made then")
    parser.add_argument("--no-file", action="store_true", help=f"print only, leave {RESULT.name} as it is")
    return parser.parse_args()


def measure(given: argparse.Namespace, size: int, folder: Path, load: Load) -> Iterator[str]:
    """Yield the lines of one size's sections."""
    with ExitStack() as stack:
        env = environment(folder)
        if given.engine == "postgres":
            env |= {"DATABASE_URL": given.database or stack.enter_context(postgres())}
        if not given.database:
            manage(env, "migrate", "--verbosity", "0")
            manage(env, "seed_catalog", "--listings", str(size), "--without-search")
        yardstick = stack.enter_context(serving(YARDSTICK, os.environ, "/page"))
        caches = ["memory", "redis"] if given.cache == "both" and given.engine == "postgres" else [given.cache.replace("both", "memory")]
        for cache in caches:
            shared = {"REDIS_URL": f"{stack.enter_context(redis())}/0"} if cache == "redis" else {}
            service = stack.enter_context(serving(SERVICE, env | shared, "/api/v1/categories"))
            yield f"\n## {size:,} listings, {given.engine}, answers in {cache}\n"
            yield from table(load, yardstick, service, shared_cache=cache == "redis")
        if given.engine == "postgres":
            yield from statements(env, min(DEEP, size // LIMIT), given.seconds)


def table(load: Load, yardstick: Server, service: Server, *, shared_cache: bool) -> Iterator[str]:
    """Yield the table of one running service; the yardstick runs before each row."""
    yield "| what | requests/s | median ms | p99 ms | of bare Django's | µs of processor | of bare Django's share | goal |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|"
    lines: list[Line] = []
    for subject in subjects(service.address, shared_cache=shared_cache):
        bare, bare_cpu = _measured(yardstick, lambda: load.same(f"{yardstick.address}/page"))
        rate, cpu = _measured(service, partial(subject.ask, load))
        lines.append(Line(subject.name, rate, cpu, bare, bare_cpu, subject.goal))
        yield str(lines[-1])
    mean = statistics.mean(line.yardstick.per_second for line in lines)
    yield f"| *bare Django JSON view, mean of {len(lines)} runs* | {mean:,.0f} | | | 1 | {statistics.mean(line.yardstick_cpu for line in lines) * 1e6:,.0f} | 1 | |"
    first = next(line for line in lines if line.name.endswith("popular"))
    deep = next(line for line in lines if "built: page" in line.name)
    times = first.rate.per_second / deep.rate.per_second
    yield f"\n{deep.name.removeprefix('browse, built: ')} costs {times:.1f} times page 1 (goal ≤ 5: {'met' if times <= 5 else '**missed**'})."


def _measured(server: Server, ask: Callable[[], Rate]) -> tuple[Rate, float]:
    """Return a run's rate, and the server's processor time for one answer."""
    before = server.cpu()
    rate = ask()
    return rate, (server.cpu() - before) / max(rate.answers, 1)


def statements(env: dict[str, str], page: int, seconds: int) -> Iterator[str]:
    """Yield what the database alone takes for a page."""
    means = latencies(env, start=(page - 1) * LIMIT, seconds=seconds)
    if means is None:
        return
    yield "\nThe statement alone, by pgbench over one connection:\n\n| what | ms |\n|---|--:|"
    yield from (f"| {name} | {mean:.2f} |" for name, mean in means.items())


def heading(given: argparse.Namespace) -> str:
    """Tell when, where and how it was measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"# Serving the catalog\n\n{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"Django {django.get_version()}, load average {os.getloadavg()[0]:.1f} at the start. granian, one worker, {THREADS} threads; wrk with "
        f"{CONNECTIONS} connections on the same machine, {given.seconds} s for each row, the yardstick just before each: trust the ratios, those of the server's own processor time most. "
        "`built` rows ask for an address that was never asked for, so that nothing is ready. Limits of calls count but do not refuse.\n"
    )


def main() -> None:
    """Measure and keep the result."""
    given = arguments()
    load, lines = Load(given.seconds), [heading(given)]
    print(lines[0])
    for size in (int(text) for text in given.listings.split(",")):
        with tempfile.TemporaryDirectory(prefix="marketplace-bench-") as folder:
            for line in measure(given, size, Path(folder), load):
                print(line, flush=True)
                lines.append(line)
    if not given.no_file:
        RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
