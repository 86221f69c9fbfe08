"""A user of a browser, who opens pages, fills in their forms and follows links only."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from bs4 import BeautifulSoup, Tag

from ..admin.pages import fill
from ..waiting import PATIENCE_SECONDS
from .server import Site


class Person:
    """A browser session of one person."""

    def __init__(self, server: Site, email: str, password: str) -> None:
        self.server = server
        self.email = email
        self.password = password
        self.session = server.session()
        self.page = BeautifulSoup("", "html.parser")
        self.url = server.base_url

    @property
    def words(self) -> str:
        return " ".join(self.page.get_text(" ").split())

    def open(self, address: str) -> None:
        self._show(self.session.get(urljoin(self.url, address), timeout=PATIENCE_SECONDS))

    def follow(self, pattern: str) -> None:
        """Go where a link on the page leads whose address matches."""
        links = [str(link["href"]) for link in self.page.find_all("a", href=True)]
        found = [link for link in links if re.search(pattern, link)]
        assert found, f"no link like {pattern} on {self.url}: {links}"
        self.open(found[0])

    def submit(self, answers: Mapping[str, Any], *, form: str) -> None:
        """Fill in the form that the selector names, as it stands on the page, and send it."""
        found = self.page.select_one(form)
        assert isinstance(found, Tag), f"no form {form} on {self.url}: {self.words}"
        target = urljoin(self.url, str(found.get("action") or self.url))
        # Browsers name where a form came from; Django's forgery check asks for it.
        sent = fill(found, answers)
        self._show(self.session.post(target, data=sent, headers={"Referer": self.url}, timeout=PATIENCE_SECONDS))

    def _show(self, response: requests.Response) -> None:
        self.page = BeautifulSoup(response.content, "html.parser")
        self.url = response.url
        assert response.status_code == 200, f"{response.status_code} at {self.url}: {self.words}"

    def sign_up(self) -> None:
        """Make an account and confirm the address by the mail's link."""
        self.open("/account/signup/")
        self.submit({"email": self.email, "password1": self.password, "password2": self.password}, form="main form")
        link = re.search(r"https?://\S+", self.server.mail_to(self.email, "onfirm"))
        assert link
        self.open(link[0])
        self.submit({}, form="main form")
        assert urlsplit(self.url).path == "/dashboard", self.url

    def sign_in(self, wanted: str) -> None:
        """Sign in on the way to a page."""
        self.open(wanted)
        self.submit({"login": self.email, "password": self.password}, form="main form")

    def secret(self) -> str:
        shown = self.page.select_one("#secret")
        assert shown is not None, self.words
        return shown.get_text(strip=True)

    def decide(self, queue: str, subject: str, verb: str, answers: Mapping[str, Any]) -> None:
        """Decide in the admin: open the queue, the row that names the subject, and send the form of the decision.

        It stands on the row's own page, or on one to which a link leads.
        """
        self.open(f"/admin/{queue}")
        rows = [row for row in self.page.select("#result_list tr") if subject in row.get_text(" ")]
        assert rows, f"{subject} is not in {queue}: {self.words}"
        link = rows[0].find("a", href=re.compile("/change/"))
        assert isinstance(link, Tag)
        self.open(str(link["href"]))
        if self.page.select_one(f'form[action$="/{verb}/"]'):
            self.submit(answers, form=f'form[action$="/{verb}/"]')
        else:
            self.follow(rf"/{verb}/")
            self.submit(answers, form=".decision form")
