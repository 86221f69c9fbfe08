"""A gateway that adds a tool token to calls of the tools: the suite has no place for one."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from ...waiting import PATIENCE_SECONDS

_OURS = {"connection", "content-length", "date", "server", "transfer-encoding"}


@contextmanager
def gateway(port: int, server_port: int, token: str) -> Iterator[None]:
    """Pass on what comes to `port`, whole and unchanged otherwise, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            if self.path == "/mcp":
                headers.setdefault("Authorization", f"Bearer {token}")
            behind = HTTPConnection("127.0.0.1", server_port, timeout=PATIENCE_SECONDS)
            behind.request(self.command, self.path, body, headers)
            answer = behind.getresponse()
            content = answer.read()
            behind.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OURS:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = pass_on

        def log_message(self, *_args: Any) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
