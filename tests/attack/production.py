"""Attacks on two nodes behind the shipped nginx, while somebody browses and buys.

    uv run --group dev python -m tests.attack.production [--only "slow bodies"] [--seconds 20]

PostgreSQL, Redis, an S3 server, a worker and the nodes run with the production settings. For each attack it prints how
long the victim's requests take before, during and from five seconds after it (the 95th percentile), and which of them failed. It fails
where one failed, or they took more than three times as long during the attack or after it.
"""

import itertools
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests

from benchmarks import MISSED
from marketplace.core import bounds
from tests import command_line, say

from ..nodes.balancer import BASE_URL, HOST
from ..nodes.deployment import Deployment, deployed
from ..servers.nginx import Proxy, nginx
from ..servers.process import call_in
from ..servers.s3 import S3Server

MOST, RECOVERY_SECONDS = 3.0, 5.0
# What takes less was not held up by anything: the first of a kind, and this machine's other work, may take it.
NOTICED_SECONDS = 0.5
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 30
ATTACKERS = 8
CONNECTIONS = 70
# It is one program with many calls; attackers have the usual limits.
OF_THE_VICTIM = {"RATE_LIMIT_API_KEY": "100000"}
# Of each attacker, at a time.
PREVIEWS = 3
API = f"{BASE_URL}/api/v1"
REPORTS = f"{API}/leaked-credentials"
UPLOAD = "/api/v1/vendor/assets/0192f0c1-d5e8-7a8f-9a3b-0192f0c1d5e8/file"


@dataclass
class Scene:
    """What there is to attack and to buy."""

    proxy: Proxy
    facts: dict[str, Any]
    store: S3Server
    over: threading.Event = field(default_factory=threading.Event)

    def session(self, number: int) -> requests.Session:
        """Return a client with an address of its own."""
        return self.proxy.session(source=f"127.0.1.{number + 1}")

    def connect(self, number: int) -> ssl.SSLSocket:
        """Open a connection from the address of a client."""
        context = ssl.create_default_context(cafile=self.proxy.certificate)
        plain = socket.create_connection(
            ("127.0.0.1", self.proxy.port), timeout=PATIENCE_SECONDS, source_address=(f"127.0.1.{number + 1}", 0)
        )
        return context.wrap_socket(plain, server_hostname=self.proxy.host)


class Victim(threading.Thread):
    """Browses and buys, one request after the other, and notes how long each takes."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(daemon=True)
        self._scene = scene
        # When each request began, how long it took, and its status.
        self.noted: list[tuple[float, float, int]] = []
        self.ended = threading.Event()
        self._numbers = itertools.count(1)

    def run(self) -> None:
        """Go on until `ended`."""
        for_sale = itertools.cycle(self._scene.facts["for_sale"])
        key = {"X-Api-Key": self._scene.facts["key"]}
        with self._scene.session(200) as session:
            while not self.ended.is_set():
                number, asset = next(self._numbers), next(for_sale)
                buying = {"json": {"assetId": asset}, "headers": key | {"Idempotency-Key": asset}}
                self._note(session, "GET", f"{API}/assets?limit=20")
                self._note(session, "GET", f"{API}/assets/search?q=asset&limit={number % 40 + 1}")
                self._note(session, "GET", f"{BASE_URL}/browse?page={number % 3 + 1}")
                self._note(session, "GET", f"{API}/wallet", headers=key)
                self._note(session, "POST", f"{API}/wallet/spend", **buying)

    def _note(self, session: requests.Session, method: str, address: str, **parts: Any) -> None:
        began = time.monotonic()
        try:
            status = session.request(method, address, timeout=PATIENCE_SECONDS, **parts).status_code
        except requests.RequestException:
            status = 0
        self.noted.append((began, time.monotonic() - began, status))
        self.ended.wait(PAUSE_SECONDS)

    def between(self, begin: float, end: float) -> list[tuple[float, float, int]]:
        """Return what was noted of requests that began in that time."""
        return [entry for entry in self.noted if begin <= entry[0] < end]


Attack = Callable[[Scene, int], None]


def send(body: bytes, address: str = REPORTS, content_type: str = "application/json") -> Attack:
    """Return an attacker who sends a body once a second."""

    def attack(scene: Scene, number: int) -> None:
        with scene.session(number) as session:
            while not scene.over.is_set():
                with suppress(requests.RequestException):
                    session.post(address, body, headers={"Content-Type": content_type}, timeout=PATIENCE_SECONDS)
                scene.over.wait(1)

    return attack


def slow(head: str, *, trickle: bool = True, hold_seconds: float = 0) -> Attack:
    """Return an attacker who holds connections that have sent the beginning of a request, and a byte of the rest each second.

    Args:
        head: What is sent first; `{name}` stands for a fact of the scene.
        trickle: Whether more bytes follow.
        hold_seconds: How long the connections stay open, with nothing sent, once the attack is over.
    """

    def attack(scene: Scene, number: int) -> None:
        opened: list[ssl.SSLSocket] = []
        with ExitStack() as stack:
            while not scene.over.is_set():
                while len(opened) < CONNECTIONS and not scene.over.is_set():
                    with suppress(OSError):
                        opened.append(stack.enter_context(scene.connect(number)))
                        opened[-1].sendall(head.format_map(scene.facts).encode())
                for connection in list(opened):
                    try:
                        connection.sendall(b"x" if trickle else b"")
                    except OSError:
                        opened.remove(connection)
                scene.over.wait(1)
            time.sleep(hold_seconds)

    return attack


def post(path: str, content_type: str, length: int = 1_000_000) -> str:
    """Return the headers of a request with a body."""
    return f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"


def look_for_a_pattern(scene: Scene, number: int) -> None:
    """Search an admin list by a regular expression, as staff with one view permission."""
    pattern = {"short_description__regex": "(.+)(.+)(.+)(.+)\\1\\2\\3\\4x"}
    _get(scene, number, [(f"{BASE_URL}/admin/catalog/listing/", {"params": pattern, "cookies": scene.facts["staff"]})])


def look_at_descriptions(scene: Scene, number: int) -> None:
    """Look at listings whose descriptions take long to render."""
    slugs = scene.facts["described"]
    _get(scene, number, [(f"{BASE_URL}/assets/{slug}", {}) for slug in slugs[number:] + slugs[:number]])


def hang_the_store(scene: Scene, number: int) -> None:
    """Look at a preview while the file store hangs, with a key: the proxy passes each of the requests on."""
    requested = [(f"{API}/previews/{scene.facts['preview']}", {"headers": {"X-Api-Key": scene.facts["key"]}})]
    if number == 0:
        scene.store.signal(signal.SIGSTOP)
    try:
        with ExitStack() as stack:
            for _ in range(PREVIEWS):
                thread = threading.Thread(target=_get, args=(scene, number, requested), daemon=True)
                thread.start()
                stack.callback(thread.join, PATIENCE_SECONDS)
    finally:
        if number == 0:
            scene.store.signal(signal.SIGCONT)


def _get(scene: Scene, number: int, requested: list[tuple[str, dict[str, Any]]]) -> None:
    with scene.session(number) as session:
        for address, parts in itertools.cycle(requested):
            if scene.over.is_set():
                return
            with suppress(requests.RequestException):
                session.get(address, timeout=PATIENCE_SECONDS, **parts)
            scene.over.wait(1)


def filled(item: Callable[[int], str], opening: str, closing: str) -> bytes:
    """Return a body of just under a megabyte."""
    items: list[str] = []
    length = 0
    for number in itertools.count():
        length += len(item(number)) + 1
        if length > 1_000_000:
            return f"{opening}{','.join(items)}{closing}".encode()
        items.append(item(number))
    raise AssertionError


ATTACKS: dict[str, Attack] = {
    "empty objects": send(filled(lambda _: "{}", '{"credentials":[', "]}")),
    "unknown fields": send(filled(lambda number: f'"a{number}":0', "{", "}")),
    "refused uploads": send(b"x" * 5_000_000, BASE_URL + UPLOAD, "multipart/form-data; boundary=x"),
    "slow bodies": slow(post("/api/v1/leaked-credentials", "application/json")),
    "slow bodies at an upload's address": slow(post(UPLOAD, "application/json")),
    "slow uploads": slow(post(UPLOAD, "multipart/form-data; boundary=x") + "--x"),
    "slow uploads of a vendor, held": slow(
        post("/api/v1/vendor/assets/{owned}/file", "multipart/form-data; boundary=x\r\nAuthorization: {vendor[Authorization]}") + "--x",
        hold_seconds=bounds.BODY_SECONDS,
    ),
    "slow forms": slow(post("/account/login/", "multipart/form-data; boundary=x") + "--x"),
    "slow headers": slow(f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: "),
    "idle connections": slow("", trickle=False),
    "patterns in the admin": look_for_a_pattern,
    "slow descriptions": look_at_descriptions,
    "previews while the file store hangs": hang_the_store,
}


@dataclass(frozen=True)
class Outcome:
    """The victim's p95 in seconds, `after` from five seconds after the attack on, and the statuses of its requests that failed."""

    before: float
    during: float
    after: float
    failed: Counter[int]

    @property
    def held(self) -> bool:
        """Whether the goal was met."""
        bound = max(MOST * self.before, NOTICED_SECONDS)
        return not self.failed and max(self.during, self.after) <= bound


def p95(entries: list[tuple[float, float, int]]) -> float:
    """Return the 95th percentile of the durations."""
    seconds = sorted(entry[1] for entry in entries)
    return seconds[min(len(seconds) - 1, int(len(seconds) * 0.95))] if seconds else float(PATIENCE_SECONDS)


def measure(scene: Scene, attack: Attack, seconds: float) -> Outcome:
    """Attack while the victim browses and buys."""
    victim = Victim(scene)
    victim.start()
    scene.over.clear()
    attackers = [threading.Thread(target=attack, args=(scene, number), daemon=True) for number in range(ATTACKERS)]
    time.sleep(seconds / 2)
    began = time.monotonic()
    for attacker in attackers:
        attacker.start()
    time.sleep(seconds)
    scene.over.set()
    ended = time.monotonic()
    time.sleep(seconds / 2 + RECOVERY_SECONDS)
    victim.ended.set()
    victim.join(PATIENCE_SECONDS + 1)
    for attacker in attackers:
        attacker.join(PATIENCE_SECONDS + 1)
    before, after = victim.between(0, began), victim.between(ended + RECOVERY_SECONDS, time.monotonic())
    failed = Counter(status for _, _, status in victim.noted if status != 200)
    return Outcome(p95(before), p95(victim.between(began, ended)), p95(after), failed)


def scenes(deployment: Deployment, proxy: Proxy) -> Scene:
    """Make what is attacked and bought."""
    return Scene(proxy, call_in(deployment.env, "tests.nodes.shop.make_targets"), deployment.store)


def outcomes(deployment: Deployment, only: str, seconds: float) -> Iterator[tuple[str, Outcome]]:
    """Yield what each attack did."""
    with nginx(deployment.addresses, host=HOST) as proxy:
        scene = scenes(deployment, proxy)
        # The first requests of a process load what the others find.
        measure(scene, lambda *_: None, seconds / 2)
        for name, attack in ATTACKS.items():
            if only in {"", name}:
                yield name, measure(scene, attack, seconds)


def main() -> int:
    """Attack and tell."""
    parser = command_line("tests.attack.production", __doc__)
    parser.add_argument("--only", default="", choices=["", *ATTACKS], metavar="ATTACK", help="; ".join(ATTACKS))
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each attack goes on (default 20)")
    options = parser.parse_args()
    held = True
    say("| attack | p95 before | during | after | times | failed | |\n|---|--:|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory(prefix="marketplace-attack-") as folder, deployed(Path(folder), given=OF_THE_VICTIM) as deployment:
        for name, was in outcomes(deployment, options.only, options.seconds):
            held = held and was.held
            cells = [
                f"{was.before * 1000:.0f} ms",
                f"{was.during * 1000:.0f} ms",
                f"{was.after * 1000:.0f} ms",
                f"{was.during / was.before:.1f}",
            ]
            say(f"| {name} | {' | '.join(cells)} | {dict(was.failed) or 'none'} | {'held' if was.held else 'gave way'} |")
    return 0 if held else MISSED


if __name__ == "__main__":
    sys.exit(main())
