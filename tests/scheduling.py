"""In what order tests run, which of them the second engine need not repeat, and which are measured.

What takes longest begins first, so that nobody waits for it alone in the end. A worker of a parallel run gets a file at a time, since its
tests share what is made for them; where they share nothing, a test at a time. Where coverage is asked for, a test takes three times as
long: of one with many cases the first few are measured, so that the figure is a lower bound.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadScopeScheduling

# In the order in which they begin; each takes ten seconds or more.
LONGEST = (
    "tests/pages/test_every_page_in_a_browser.py",
    "tests/ops/test_quickstart.py",
    "tests/studio/test_browser_vendor.py",
    "tests/mcp/test_outside.py",
    "tests/nodes/test_edge.py",
    "tests/nodes/test_nodes.py",
    "tests/ops/test_backup.py",
    "tests/wallet/test_stateful.py",
    "tests/faults/test_uploads.py",
    "tests/contract/test_generated.py",
    "tests/files/test_hostile_files.py",
    "tests/pages/test_browser_console.py",
    "tests/pages/test_browser_shop.py",
    "tests/admin/test_browser.py",
    "tests/studio/test_browser_files.py",
    "tests/flows/test_first_sale.py",
    "tests/pages/test_browser.py",
    "tests/pages/test_browser_sales.py",
    "tests/admin/test_decisions.py",
    "tests/files/test_stores.py",
    "tests/clients/test_journeys.py",
    "tests/studio/test_browser_keyboard.py",
    "tests/upgrade/test_old_code.py",
    "tests/developers/test_usage_server.py",
    "tests/developers/oauth/test_browser.py",
    "tests/contract/test_document.py",
    "tests/wallet/test_races.py",
    "tests/faults/test_refusals.py",
    "tests/jobs/test_worker.py",
)
# Nothing is made once for their tests.
APART = {
    "tests/faults/test_uploads.py",
    "tests/flows/test_first_sale.py",
    "tests/ops/test_backup.py",
    "tests/wallet/test_stateful.py",
}
# Its tests share what the library that makes them knows of an operation: some hundred megabytes, which it never gives back.
BY_OPERATION = "tests/contract/test_generated.py"
# As it stands in the name of a case: PostgreSQL takes no NUL.
NUL = ("\\x00", "%00")
# So many cases of a test are measured.
MEASURED = 4


class LongestFirst(LoadScopeScheduling):
    """Sends files, and parts or single tests of some, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        if file == BY_OPERATION:
            # The kind of caller stands last.
            return nodeid.rpartition("-")[0]
        return nodeid if file in APART else file


def place(item: pytest.Item) -> int:
    """Return where a test's file stands among those that begin first."""
    file = item.nodeid.split("::", 1)[0]
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


def measure_few(items: list[pytest.Item]) -> None:
    """Take all cases but the first of each test from the measurement of coverage."""
    seen: Counter[tuple[str, str]] = Counter()
    for item in items:
        test = (item.nodeid.split("::", 1)[0], getattr(item, "originalname", item.name))
        seen[test] += 1
        if seen[test] > MEASURED:
            item.add_marker(pytest.mark.no_cover)


def proven_elsewhere(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return those that PostgreSQL need not repeat: what no database decides, and most cases of a matrix.

    Of a matrix it gets the first case of each test, and those with a NUL.
    """
    gone, seen = set(), set()
    for item in items:
        test = (item.nodeid.split("::", 1)[0], getattr(item, "originalname", item.name))
        repeats = test in seen and item.get_closest_marker("matrix") and not any(nul in item.name for nul in NUL)
        if repeats or not _concerns_an_engine(item):
            gone.add(item)
        seen.add(test)
    return gone


def _concerns_an_engine(item: pytest.Item) -> bool:
    """Tell whether a test uses a database of the suite; pytest-django keeps it from all others."""
    if item.get_closest_marker("engineless"):
        return False
    asks = any(item.get_closest_marker(marker) for marker in ("django_db", "engines", "postgres"))
    return asks or not {"_django_db_helper", "live_server"}.isdisjoint(getattr(item, "fixturenames", ()))
