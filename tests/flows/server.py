"""The service as operators start it: a process of its own, on an empty database and an empty folder."""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Protocol

import requests

from ..servers.migrated import copy_sqlite
from ..servers.ports import free_port
from ..servers.process import Process, bare_environment, granian, run
from ..waiting import until

ADMIN = ("admin@example.com", "an admin's long phrase")
# Commands that make none of the checks.
WITHOUT_CHECKS = {"doctor", "make_bucket", "restore", "sandbox_reset", "shell"}
# A mail on the console of a service without a mail server (`marketplace.jobs.mailing`), perhaps after log lines.
PRINTED = re.compile(r"^Mail to (?P<to>[^\n]+)\nSubject: (?P<subject>[^\n]+)\n\n(?P<text>.+)\Z", re.MULTILINE | re.DOTALL)


class Site(Protocol):
    """A running service, of one process or of several."""

    @property
    def base_url(self) -> str:
        """Where it is."""

    def session(self) -> requests.Session:
        """Return a browser or program that can reach it."""

    def mail_to(self, address: str, subject: str) -> str:
        """Return the text of the newest mail with these words in its subject."""


@dataclass(frozen=True)
class Server:
    """A running service whose mails go to its console."""

    base_url: str
    console: Path

    def session(self) -> requests.Session:
        return requests.Session()

    def mail_to(self, address: str, subject: str) -> str:

        def found() -> list[str]:
            mails = [PRINTED.search(chunk) for chunk in self.console.read_text(encoding="utf-8").split("-" * 79 + "\n")[:-1]]
            return [mail["text"] for mail in mails if mail and mail["to"] == address and subject in mail["subject"]]

        return until(found, f"a mail to {address} about {subject}", log=self.console)[-1]


def plain_text(mail: EmailMessage) -> str:
    """Return what a mail says to who reads no HTML."""
    body = mail.get_body(preferencelist=("plain",))
    assert body is not None
    return str(body.get_content())


def environment(folder: Path, base_url: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which nothing but ours and what is given is set."""
    return {
        **bare_environment(),
        **given,
        "DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded",
        "DATA_DIR": str(folder),
        "BASE_URL": base_url,
        "ADMIN_REQUIRES_SECOND_FACTOR": "false",
        "PYTHONUNBUFFERED": "1",
    }


@contextmanager
def running_server(folder: Path, given: Mapping[str, str]) -> Iterator[Server]:
    """Make an admin and serve with granian until the block ends, on an empty database: a file, unless one is given."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    env = environment(folder, base_url, given)
    if "DATABASE_URL" not in given:
        copy_sqlite(folder / "marketplace.sqlite3")
    manage(env | {"DJANGO_SUPERUSER_PASSWORD": ADMIN[1]}, "createsuperuser", "--no-input", "--email", ADMIN[0])
    console = folder / "console.txt"
    with Process(granian(port, "--blocking-threads", "4"), env, console).serving(f"{base_url}/robots.txt"):
        yield Server(base_url, console)


def management(*words: str) -> list[str]:
    """Return the line of a management command, without the checks of the whole code, which would double its start.

    The test command runs those by themselves, and the tests of configurations with every command.
    """
    skip = [] if words[0] in WITHOUT_CHECKS else ["--skip-checks"]
    return [sys.executable, "manage.py", *words, *skip]


def manage(env: dict[str, str], *words: str) -> str:
    """Run one management command and return what it printed."""
    done = run(*management(*words), env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
