"""`manage.py quickstart`: from nothing to a running service with content, on this machine only."""

import ipaddress
import os
import shutil
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from marketplace.settings.environment import text

from ...content import make_content
from ...entries import load_entries
from ...output import credentials_path, curl_lines
from ...people import Credentials

SECOND_FACTOR = "ADMIN_REQUIRES_SECOND_FACTOR"
# Only a few of them work at the same time; the others wait for slow clients, so that these block nobody.
THREADS = 64


class Command(BaseCommand):
    help = "Create a local service with demo content and start it. Running it again keeps the existing data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000)")
        parser.add_argument("--host", default="127.0.0.1", help="loopback address to listen on (default 127.0.0.1)")
        parser.add_argument("--reset", action="store_true", help="delete the local database and files first")
        parser.add_argument("--yes", "--no-input", action="store_true", dest="yes", help="don't ask for confirmation")
        parser.add_argument("--no-serve", action="store_true", help="create the data and exit")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.TEST_PAYMENTS_ALLOWED:
            raise CommandError("A marketplace with real money gets no demo content. Unset DJANGO_SETTINGS_MODULE.")
        host, port = options["host"], options["port"]
        _refuse_unusable(host, port, serving=not options["no_serve"])
        base_url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        if options["reset"]:
            self._reset(ask=not options["yes"])
        self.stdout.write("Creating the database and the demo content. The first time this takes about a minute.")
        self.stdout.flush()
        self._print_credentials(*make_content(load_entries(), base_url))
        if not options["no_serve"]:
            if not text(SECOND_FACTOR):
                os.environ[SECOND_FACTOR] = "false"
                self.stdout.write("\nThe admin on this server doesn't ask for an authenticator app. In production staff need one.")
            if settings.SANDBOX:
                self.stdout.write(f"This is a sandbox. Emails are kept in {settings.EMAIL_FILE_PATH}; new accounts need no confirmation.")
            elif not text("EMAIL_URL"):
                self.stdout.write("Emails, such as those that confirm a new account, are printed here.")
            self.stdout.write(f"\nThe service is running at {base_url}. Press Ctrl-C to stop it.")
            self.stdout.flush()
            serve(host, port, base_url)

    def _reset(self, *, ask: bool) -> None:
        """Delete what this command created: the SQLite database, the stored files, and the file with the credentials."""
        if connection.vendor != "sqlite" or settings.S3:
            raise CommandError(
                "--reset deletes local data only. Unset DATABASE_URL and the S3_ variables, or empty the database and the bucket yourself."
            )
        if ask and not confirmed(f"Delete the database and the files in {settings.DATA_DIR}?"):
            raise CommandError("Nothing was deleted. Use --yes to skip the confirmation.")
        connection.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{connection.settings_dict['NAME']}{suffix}").unlink(missing_ok=True)
        shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)
        credentials_path().unlink(missing_ok=True)

    def _print_credentials(self, credentials: Credentials, slug: str) -> None:
        base_url = credentials["baseUrl"]
        pages = {"Site": "/", "API documentation": "/api/v1/docs", "Dashboard": "/dashboard", "Admin": "/admin/"}
        self.stdout.write("\nAddresses")
        for name, address in pages.items():
            self.stdout.write(f"  {name:<18} {base_url}{address}")
        self.stdout.write(f"\nSign in with (saved in {credentials_path()}, readable by you only)")
        for role, known in credentials.items():
            if isinstance(known, dict):
                secret = known.get("apiKey") or known.get("bearerToken") or ""
                self.stdout.write(f"  {role:<12} {known['email']:<28} {known['password']}  {secret}".rstrip())
        self.stdout.write("\nTry these commands")
        for what, line in curl_lines(credentials, slug):
            self.stdout.write(f"  # {what}\n  {line}")


def serve(host: str, port: int, base_url: str) -> None:
    """Replace this process with the server: a single process with threads, so that its counters are exact."""
    os.environ["BASE_URL"] = base_url
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", host, "--port", str(port), "--workers", "1"]
    # Not as an option: the settings read it from the environment too.
    os.environ.setdefault("GRANIAN_BLOCKING_THREADS", str(THREADS))
    command += ["--respawn-failed-workers", "--no-ws", "--log-level", "warning", "--working-dir", str(settings.BASE_DIR)]
    os.execv(sys.executable, [*command, "marketplace.wsgi:application"])  # noqa: S606 - our own command, no shell


def _refuse_unusable(host: str, port: int, *, serving: bool) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise CommandError(f"{host} is not a loopback address: the demo's credentials are for this machine only. Use 127.0.0.1 or ::1.")
    if not 0 < port < 2**16:
        raise CommandError(f"{port} is not a valid port; use --port with a number from 1 to 65535.")
    if not serving:
        return
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise CommandError(f"Cannot listen on {host} port {port}: {error.strerror}. Choose another with --port.") from error


def confirmed(question: str) -> bool:
    """Ask at the terminal; without one the answer is no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False
