"""Says where a run of the suite is: a line now and then instead of dots, and each failure as it comes. A plugin of the test command."""

import os
import time
from collections.abc import Generator
from typing import Any

import pytest

SECONDS = 15


def pytest_configure(config: pytest.Config) -> None:
    """Watch from the process that the workers report to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config), "progress")


class Progress:
    """Counts what has run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._engine = "PostgreSQL" if os.environ.get("TEST_DATABASE_URL") else "SQLite"
        self._began = self._told = time.monotonic()
        self._done = self._failed = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Any, tuple[str, str, str]]:
        """Take the letter from each status, so that no dots are written."""
        category, _letter, word = yield
        return category, "", word

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name what failed at once; why stands in the end."""
        if report.failed:
            self._failed += 1
            self._say(f"FAILED {report.nodeid}")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Say now and then how far the run is."""
        self._done += 1
        if time.monotonic() - self._told > SECONDS:
            self._tell()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say how far it came."""
        self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        minutes, seconds = divmod(round(self._told - self._began), 60)
        session = self._config.pluginmanager.get_plugin("session")
        of = session.testscollected if isinstance(session, pytest.Session) else 0
        share = f"{100 * self._done // of:3} %" if of else "  0 %"
        failed = f", {self._failed} failed" if self._failed else ""
        self._say(f"{share}  {self._done} of {of} tests, {minutes}:{seconds:02}{failed}")

    def _say(self, words: str) -> None:
        terminal = self._config.get_terminal_writer()
        terminal.line(f"{self._engine}  {words}")
        terminal.flush()
