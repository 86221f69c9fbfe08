"""A mail server that keeps what it is sent: as much of SMTP as Django speaks."""

import email
import socketserver
import threading
from email import policy
from email.message import EmailMessage


class Mailbox:
    """Listens on a loopback port until it is removed."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        mails = self.mails

        class Session(socketserver.StreamRequestHandler):
            """One connection."""

            def handle(self) -> None:
                """Answer commands; keep each message."""
                self.wfile.write(b"220 mailbox\r\n")
                for line in self.rfile:
                    command = line[:4].upper().strip()
                    if command == b"DATA":
                        self.wfile.write(b"354 go on\r\n")
                        self._take()
                    self.wfile.write(b"221 bye\r\n" if command == b"QUIT" else b"250 ok\r\n")
                    if command == b"QUIT":
                        return

            def _take(self) -> None:
                lines = []
                for line in self.rfile:
                    if line == b".\r\n":
                        break
                    # A leading dot is doubled on the way (RFC 5321, 4.5.2).
                    lines.append(line.removeprefix(b"."))
                mails.append(email.message_from_bytes(b"".join(lines), policy=policy.default))

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="mailbox")
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._server.server_address[1]
        return port

    def remove(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
