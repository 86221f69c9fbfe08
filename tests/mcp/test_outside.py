"""A real server with the demo's content, seen by programs of others: the public conformance suite, and our own example as it is printed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from marketplace.web import docs
from marketplace.web.docs.values import EXAMPLES
from tests.waiting import PATIENCE_SECONDS

from .conformance import suite
from .conformance.shop import Shop, open_shop

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with open_shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


def test_every_scenario_of_the_public_suite_that_applies_passes(shop: Shop, tmp_path: Path) -> None:
    scenarios = suite.run(tmp_path, suite.install(), f"{shop.base_url}/mcp")
    assert {scenario.name: scenario.failures for scenario in scenarios if scenario.failures} == {}
    passed = {(scenario.revision, scenario.name) for scenario in scenarios if scenario.outcome == "passed"}
    assert passed >= {
        *(("2026-07-28", name) for name in ("tools-list", "caching", "dns-rebinding-protection", "http-header-validation")),
        ("any", "authorization-server-metadata-endpoint"),
        *(("extension", name) for name in ("sep-2640-skills-enumeration", "sep-2640-skills-manifest")),
        *(("2025-11-25", name) for name in ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")),
    }
    stateless = next(scenario for scenario in scenarios if scenario.name == "server-stateless")
    assert stateless.passed > 20
    skills = next(scenario for scenario in scenarios if scenario.name == "sep-2640-skills-enumeration")
    assert skills.passed > 30
    assert [scenario.warnings for scenario in scenarios if scenario.revision == "extension"] == [[]] * len(suite.EXTENSION)


def errand(shop: Shop, *words: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "MARKETPLACE_URL": shop.base_url, "MARKETPLACE_TOKEN": shop.token}
    command = [sys.executable, str(EXAMPLES / "buy_a_font.py"), *words]
    return subprocess.run(command, env=env, input=answer, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_example_buys_nothing_unless_the_user_confirms_and_a_font_fits(shop: Shop) -> None:
    done = errand(shop, answer="n\n")
    assert done.returncode == 1
    assert "Bought:" not in done.stdout
    done = errand(shop, "--licence", "for-the-moon", "--yes")
    assert (done.returncode, done.stdout) == (1, "")


def test_example_buys_fetches_and_verifies_a_font(shop: Shop) -> None:
    done = errand(shop, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["Found", "Quoted", "Bought", "Verified", "Fetched"]
    price = re.search(r"([\d.]+) INR\n", done.stdout)
    assert price is not None
    assert float(price[1]) <= 2500
    again = errand(shop, "--yes")
    # The next one: what is owned is not bought again.
    assert again.stdout.splitlines()[:1] != done.stdout.splitlines()[:1]


def test_documentation_shows_the_example_that_the_tests_run() -> None:
    page = docs.documents()["agents"]
    assert (EXAMPLES / "buy_a_font.py").read_text("utf-8").rstrip() in page.text
