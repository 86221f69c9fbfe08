"""The public client of agent skills installs what a user owns, and nothing that was altered."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from bs4 import BeautifulSoup
from django.test import Client

from catalog.models import Category
from marketplace.accounts.models import User
from marketplace.demo.entries import load_entries
from tests.agent_skills import FRONT, free_skill, skill_archive, skill_on_sale
from tests.servers.http import Handler, serving
from tests.shop import bought, funded
from tests.waiting import PATIENCE_SECONDS

from .tools import install_packages

pytestmark = [pytest.mark.full, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site", "media")]

PACKAGES = ("skills@1.7.4", "node@22.23.3")
FILES = {"references/pairs.md": "AV, To\n", "scripts/pairs.py": "print('AV')\n"}
Installs = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The client, and a Node.js that is new enough for it."""
    modules = install_packages("skills", *PACKAGES)
    return [str(modules / "node" / "bin" / "node"), str(modules / "skills" / "bin" / "cli.mjs")]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def install(program: list[str], project: Path, tmp_path: Path) -> Installs:
    """Run a command that begins with `npx skills`, in an empty home."""

    def install(command: str) -> subprocess.CompletedProcess[str]:
        words = shlex.split(command)
        at = words.index("npx")
        given = dict(word.split("=", 1) for word in words[:at])
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "CI": "1", **given}
        line = [*program, *words[at + 2 :], "--agent", "claude-code", "--yes", "--copy"]
        return subprocess.run(line, cwd=project, env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)

    return install


def command_for(user: User, slug: str) -> str:
    """Return the command on the page of an owned skill."""
    browser = Client()
    browser.force_login(user)
    page = browser.post(f"/dashboard/library/{slug}/agent")
    code = BeautifulSoup(page.content, "html.parser").select_one("pre code")
    assert code is not None
    return code.get_text()


def installed(project: Path) -> dict[str, str]:
    folder = project / ".claude" / "skills"
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def skill(name: str = "kerning-helper") -> bytes:
    return skill_archive(FILES, front=FRONT.replace("kerning-helper", name))


def owner_of(*names: str) -> User:
    """Return someone who owns skills with these names, of listings that are called the same."""
    user = funded(inr=1_000_000)
    for name in names:
        bought(skill_on_sale(skill(name), slug=name), user)
    return user


def test_owned_skill_is_installed_by_the_command_of_its_page(install: Installs, project: Path) -> None:
    done = install(command_for(owner_of("kerning-helper", "other"), "kerning-helper"))
    assert done.returncode == 0, done.stdout
    files = installed(project)
    assert files.pop("kerning-helper/SKILL.md").startswith(f"---\n{FRONT}---")
    assert files == {f"kerning-helper/{path}": text for path, text in FILES.items()}


def test_archive_that_was_altered_on_its_way_is_refused(install: Installs, project: Path, site: str) -> None:
    other = skill_archive({**FILES, "scripts/pairs.py": "print('evil')\n"})

    class Between(Handler):
        def respond(self) -> None:
            found = requests.get(f"{site}{self.path}", timeout=PATIENCE_SECONDS)
            content = other if self.path.endswith(".zip") else found.content
            self.answer(found.status_code, content, Content_Type=found.headers["Content-Type"])

    command = command_for(owner_of("kerning-helper"), "kerning-helper")
    with serving(Between) as port:
        done = install(command.replace(site, f"http://127.0.0.1:{port}"))
    assert (done.returncode, installed(project)) == (1, {}), done.stdout


def test_free_skills_of_the_site_are_installed_by_its_address(install: Installs, project: Path, site: str) -> None:
    names = set()
    for entry in load_entries():
        if entry.kind.category == "ai-skills" and entry.price_minor("INR") == 0:
            listing = free_skill(entry.deliverable.read_bytes(), slug=entry.slug, category=Category.objects.get(slug="ai-skills"))
            names.add(listing.slug)
    done = install(f"DISABLE_TELEMETRY=1 npx skills add {site}")
    assert done.returncode == 0, done.stdout
    assert {path.split("/")[0] for path in installed(project)} == names != set()
