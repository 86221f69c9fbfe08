"""A receiver on this machine: keeps what arrives, checks it with the public library of Standard Webhooks, answers as it is told."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook

from tests.servers.http import Handler, serving


@dataclass
class Received:
    """One call."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """What receivers tell repeats by."""
        return self.headers["webhook-id"]

    def opened_with(self, secret: str) -> Any:
        """Return the body, as the public library gives it out once the signature is right."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """A running one."""

    url: str
    calls: list[Received] = field(default_factory=list)
    status: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0

    @property
    def bodies(self) -> list[Any]:
        """What arrived."""
        return [json.loads(call.body) for call in self.calls]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen until the block ends."""
    receiver = Receiver("")

    class Taking(Handler):
        def respond(self) -> None:
            receiver.calls.append(Received({name.lower(): value for name, value in self.headers.items()}, self.body))
            time.sleep(receiver.seconds)
            self.answer(receiver.status, receiver.answer, **receiver.headers)

    with serving(Taking) as port:
        receiver.url = f"http://127.0.0.1:{port}/hook"
        yield receiver
