"""A gateway that adds an MCP token to calls of the tools: the suite has no place for one."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

from ...servers.http import Handler, serving
from ...waiting import PATIENCE_SECONDS

_OURS = {"connection", "content-length", "date", "server", "transfer-encoding"}


@contextmanager
def gateway(port: int, server_port: int, token: str) -> Iterator[None]:
    """Pass on what comes to `port`, whole and unchanged otherwise, until the block ends."""

    class Onward(Handler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            if self.path == "/mcp":
                headers.setdefault("Authorization", f"Bearer {token}")
            behind = HTTPConnection("127.0.0.1", server_port, timeout=PATIENCE_SECONDS)
            behind.request(self.command, self.path, self.body, headers)
            answer = behind.getresponse()
            content = answer.read()
            behind.close()
            self.answer(answer.status, content, **{name: value for name, value in answer.getheaders() if name.lower() not in _OURS})

    with serving(Onward, port=port):
        yield
