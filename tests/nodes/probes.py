"""Typical requests of people and programs, to see which of them succeed while a dependency is down."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import requests
from bs4 import BeautifulSoup

from ..files import makers
from ..servers.process import call_in
from .balancer import BASE_URL
from .deployment import Deployment

API = f"{BASE_URL}/api/v1"
# A caller gives up after this long, and so would a proxy.
PATIENCE_SECONDS = 40


@dataclass(frozen=True)
class Outcome:
    """How one request ended.

    Args:
        word: `yes`, `503` (with Retry-After), or what should not be.
        seconds: How long it took.
    """

    word: str
    seconds: float


class Prober:
    """Sends each request; knows what succeeded, so that it can be looked for later."""

    def __init__(self, deployment: Deployment, facts: dict[str, Any]) -> None:
        self.deployment = deployment
        self.facts = facts
        self.key = {"X-Api-Key": self.facts["key"]}
        self.bought: list[str] = []
        self.signed_up: list[str] = []
        self._numbers = itertools.count(1)
        self._for_sale: Iterator[str] = iter(self.facts["for_sale"])
        self.link = ""
        self._new_link()

    def probes(self) -> dict[str, Callable[[], requests.Response]]:
        """Return the requests by what they are called in the table."""
        owned = self.facts["owned"]
        return {
            "Browse and view assets (cached)": lambda: self._call("GET", "/assets?limit=1", credential=False),
            "Browse and search (not cached)": lambda: self._call(
                "GET",
                f"/assets/search?q=owned&limit={next(self._numbers) % 50 + 1}&minPrice=0.{next(self._numbers) % 90 + 10}",
                credential=False,
            ),
            "Read an AI manifest": lambda: self._call("GET", f"/assets/{owned}/manifest"),
            "View a preview": lambda: self._call("GET", f"/previews/{self.facts['preview']}", credential=False),
            "View library and wallet": lambda: self._call("GET", "/library"),
            "Buy by API": self._buy,
            "Get a download link": self._new_link,
            "Use a download link": lambda: self._ask("GET", self.link),
            "Edit a listing": lambda: self._vendor("PATCH", "/regional-prices", json={"priceInr": next(self._numbers)}),
            "Upload a file": lambda: self._vendor("POST", "/gallery-image?slot=1", files={"file": ("card.png", makers.picture())}),
            "Sign in": self._sign_in,
            "Sign up": self._sign_up,
            "Readiness check": lambda: self._ask("GET", f"{BASE_URL}/readyz"),
        }

    def round(self) -> dict[str, Outcome]:
        """Send each request once."""
        return {name: _judged(probe) for name, probe in self.probes().items()}

    def owns(self, asset: str) -> bool:
        """Tell whether an asset is the buyer's: a second purchase is refused for that."""
        headers = self.key | {"Idempotency-Key": f"again-{asset}"}
        answer = self._ask("POST", f"{API}/wallet/spend", headers=headers, json={"assetId": asset})
        return bool(answer.json().get("code") == "already_owned")

    def _ask(self, method: str, address: str, **parts: Any) -> requests.Response:
        with self.deployment.session() as session:
            return session.request(method, address, timeout=PATIENCE_SECONDS, **parts)

    def _call(self, method: str, path: str, *, credential: bool = True) -> requests.Response:
        return self._ask(method, API + path, headers=self.key if credential else {})

    def _vendor(self, method: str, path: str, **parts: Any) -> requests.Response:
        return self._ask(method, f"{API}/vendor/assets/{self.facts['owned']}{path}", headers=self.facts["vendor"], **parts)

    def _buy(self) -> requests.Response:
        asset = next(self._for_sale)
        headers = self.key | {"Idempotency-Key": asset}
        answer = self._ask("POST", f"{API}/wallet/spend", headers=headers, json={"assetId": asset})
        if answer.status_code == 200:
            self.bought.append(asset)
        return answer

    def _new_link(self) -> requests.Response:
        answer = self._call("POST", f"/library/download/{self.facts['owned']}")
        if answer.status_code == 200:
            # The one before may expire.
            self.link = answer.json()["downloadUrl"]
        return answer

    def _sign_in(self) -> requests.Response:
        form = {"login": self.facts["buyer"], "password": "correct horse battery"}
        return self._send_form("/account/login/", form)

    def _sign_up(self) -> requests.Response:
        email = f"new{next(self._numbers)}@example.com"
        answer = self._send_form("/account/signup/", {"email": email, "password1": "a phrase of mine 1", "password2": "a phrase of mine 1"})
        if answer.status_code == 200:
            self.signed_up.append(email)
        return answer

    def _send_form(self, path: str, form: dict[str, str]) -> requests.Response:
        with self.deployment.session() as session:
            page = session.get(BASE_URL + path, timeout=PATIENCE_SECONDS)
            token = BeautifulSoup(page.content, "html.parser").select_one("main input[name=csrfmiddlewaretoken]")
            if token is None:
                return page
            sent = form | {"csrfmiddlewaretoken": str(token["value"])}
            return session.post(BASE_URL + path, data=sent, headers={"Referer": BASE_URL + path}, timeout=PATIENCE_SECONDS)


def _judged(probe: Callable[[], requests.Response]) -> Outcome:
    began = time.monotonic()
    try:
        answer = probe()
    except requests.RequestException as error:
        # A link leads to the object store itself, which is not us.
        return Outcome(f"no answer: {type(error).__name__}", time.monotonic() - began)
    seconds = time.monotonic() - began
    if answer.status_code == 200:
        return Outcome("yes", seconds)
    if answer.status_code == 503 and answer.headers.get("Retry-After"):
        return Outcome("503", seconds)
    return Outcome(f"{answer.status_code}: {answer.text[:300]}", seconds)


def scene(deployment: Deployment) -> dict[str, Any]:
    """Make a shop with what the requests need, and with assets for all outages."""
    facts: dict[str, Any] = call_in(deployment.env, "tests.nodes.shop.make_shop")
    return facts
