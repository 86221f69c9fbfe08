"""In what order tests run, and which of them are measured.

What takes longest begins first, so that nobody waits for it alone in the end. A worker of a parallel run gets a file at a time, since its
tests share what is made for them; where they share nothing, a test at a time. Coverage doubles what a test takes: of one with many
cases the first few are measured, so that the figure is a lower bound.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadScopeScheduling

# In the order in which they begin; each takes ten seconds or more.
LONGEST = (
    "tests/pages/test_every_page_in_a_browser.py",
    "tests/nodes/test_nodes.py",
    "tests/mcp/test_outside.py",
    "tests/ops/test_quickstart.py",
    "tests/ops/test_backup.py",
    "tests/flows/test_first_sale.py",
    "tests/faults/test_uploads.py",
    "tests/pages/test_browser_shop.py",
    "tests/ops/test_replica.py",
    "tests/contract/test_generated.py",
    "tests/admin/test_decisions.py",
    "tests/files/test_hostile_files.py",
    "tests/wallet/test_upgrade.py",
    "tests/wallet/test_stateful.py",
    "tests/files/test_stores.py",
    "tests/developers/oauth/test_browser.py",
    "tests/clients/test_journeys.py",
    "tests/upgrade/test_old_code.py",
    "tests/developers/test_usage_server.py",
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
    "tests/wallet/test_upgrade.py",
}
# So many cases of a test are measured.
MEASURED = 4


class LongestFirst(LoadScopeScheduling):
    """Sends files, and single tests of some, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
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
