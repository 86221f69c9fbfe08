# /// script
# requires-python = ">=3.11"
# dependencies = ["requests>=2.32", "tomlkit>=0.13", "urllib3>=2.8"]
# ///
"""Keeps assets that you own in a project: `cam.toml` names them, `cam.lock` pins their files.

Exit codes: 0, all is well; 1, it could not be done, or `audit` found something; 2, the command line is wrong; 130, interrupted.
"""

import argparse
import base64
import getpass
import hashlib
import hmac
import io
import json
import os
import re
import secrets
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TextIO
from urllib.parse import quote

import requests
import tomlkit
from requests.adapters import HTTPAdapter
from tomlkit.exceptions import TOMLKitError
from urllib3.util import Retry

# The service that this file was fetched from.
SERVICE = "{{base_url}}"
# The command that runs this file.
PROGRAM = f"uv run {SERVICE}/cli/cam.py"
MANIFEST, LOCK = Path("cam.toml"), Path("cam.lock")
# For connecting, and between two blocks of a response.
TIMEOUT_SECONDS = (10, 60)
POLL_SECONDS = 3
BLOCK_BYTES = 1 << 20
# The most that is lost of a cut transfer.
TRANSFER_BYTES = 1 << 16
PROGRESS_BYTES = 32 << 20
# The most of a file's name, and of a manifest or lock file.
NAME_CHARS, TOML_BYTES = 240, 1 << 22
README, LICENSE = "README.txt", "LICENSE.txt"
# Names that Windows gives to devices, with any extension.
DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\s*\..*)?", re.IGNORECASE)
SLUG = re.compile(r"[a-z0-9-]{1,80}")
UNNAMABLE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
# Why the service does not send a file any more.
WITHDRAWN = {"file_blocked", "license_suspended", "not_found", "not_owned"}
FIELDS = {"asset": str, "license": str, "version": str, "order": str, "file": str, "name": str, "size": int, "sha256": str}

Entry = dict[str, Any]


class Failed(Exception):
    """Something that the user can fix; the text says how."""


class Api:
    """The service with the user's key or token, or without one."""

    def __init__(self, secret: str = "") -> None:
        self.session = session()
        if secret:
            name, value = ("X-Api-Key", secret) if "_sk_" in secret[:12] else ("Authorization", f"Bearer {secret}")
            self.session.headers[name] = value

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Return the response of an operation.

        Raises:
            Refused: the service refuses it.
        """
        # The same for all attempts, so that a repeated purchase is one purchase.
        headers = {"Idempotency-Key": str(uuid.uuid4())} if body is not None else {}
        response = self.session.request(
            method, f"{SERVICE}/api/v1/{path}", params=query, json=body, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=False
        )
        if response.status_code == requests.codes.ok:
            return response.json()
        raise Refused(response)

    def library(self) -> list[Entry]:
        """Return all licences of the caller."""
        items: list[Entry] = []
        cursor = None
        while True:
            page = self.call("GET", "library", limit=100, cursor=cursor)
            items += page["items"]
            if not (cursor := page["nextCursor"]):
                return items


class Refused(Failed):
    """The service refuses a request."""

    def __init__(self, response: requests.Response) -> None:
        try:
            problem = response.json()
            text, self.code = f"{problem['title']}. {problem['detail']}", str(problem["code"])
        except (ValueError, KeyError, TypeError):
            text, self.code = f"The service responded with status {response.status_code}. Try again later.", ""
        if response.status_code == requests.codes.unauthorized:
            text += f" Run `{PROGRAM} login`, or set CAM_TOKEN."
        super().__init__(text)


def session() -> requests.Session:
    """Return a session that tries again after lost connections and where the service asks for it, after its Retry-After."""
    retry = Retry(
        total=5, status_forcelist=(429, 502, 503, 504), allowed_methods=None, backoff_factor=0.5, raise_on_status=False, retry_after_max=300
    )
    made = requests.Session()
    # No credentials from ~/.netrc; a proxy of the environment is used.
    made.auth = lambda request: request
    for scheme in ("https://", "http://"):
        made.mount(scheme, HTTPAdapter(max_retries=retry))
    return made


def say(text: str, to: TextIO | None = None) -> None:
    """Print a line; characters that could control the terminal, or that it cannot show, are replaced."""
    stream = to or sys.stdout
    shown = "".join(char if char.isprintable() else "?" for char in text)
    print(shown.encode(stream.encoding, "replace").decode(stream.encoding), file=stream, flush=True)


# Files


@contextmanager
def replacing(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of `path` when the block ends; if the block fails, nothing has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".cam-{secrets.token_hex(8)}")
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(draft, flags, mode), "wb") as file:
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_toml(path: Path) -> tomlkit.TOMLDocument:
    """Return a TOML file; an empty one if there is none."""
    try:
        with path.open("rb") as file:
            text = file.read(TOML_BYTES + 1)
        if len(text) > TOML_BYTES:
            raise Failed(f"{path} is too large.")
        return tomlkit.parse(text)
    except FileNotFoundError:
        return tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise Failed(f"{path} is not valid TOML: {error}. Fix it, or restore it from version control.") from error


def plain_name(name: str) -> str:
    """Return a name that is valid for a file or folder on every system, and no path.

    Raises:
        Failed: it is not.
    """
    bad = not name or len(name) > NAME_CHARS or name != name.strip(" .") or UNNAMABLE.search(name) or DEVICE.fullmatch(name)
    if bad:
        raise Failed(f"{name!r} is not a plain file name, so nothing is written. Report it to {SERVICE}.")
    return name


class Project:
    """The manifest and the lock file of the current folder."""

    def __init__(self) -> None:
        self.manifest = read_toml(MANIFEST)
        if not MANIFEST.exists():
            self.manifest.update({"service": SERVICE, "folder": "assets", "assets": tomlkit.table()})
        if self.manifest.get("service") != SERVICE:
            raise Failed(
                f"The assets in {MANIFEST} are from {self.manifest.get('service')}, not from {SERVICE}. Run the cam.py of that service."
            )
        assets = self.manifest.setdefault("assets", tomlkit.table())
        if not isinstance(assets, dict) or not all(isinstance(value, str) for value in assets.values()):
            raise Failed(f'[assets] of {MANIFEST} must have lines such as `hanken-grotesk = "commercial"`.')
        self.assets: Any = assets
        self.folder = Path(str(self.manifest.get("folder", "assets")))
        for part in self.folder.parts:
            plain_name(part)
        self.locked = {entry["asset"]: entry for entry in _entries(read_toml(LOCK))}

    def path(self, entry: Entry) -> Path:
        """Return where an asset's file is.

        Raises:
            Failed: it would not be in this folder.
        """
        path = self.folder / plain_name(entry["asset"]) / plain_name(entry["name"])
        if not path.resolve().is_relative_to(Path.cwd().resolve()):
            raise Failed(f"{path} leads out of this folder by a link, so nothing is written. Remove the link.")
        return path

    def save(self) -> None:
        """Write the manifest and the lock file, sorted by asset."""
        lock = tomlkit.document()
        lock.add(tomlkit.comment("Written by cam.py; commit it with cam.toml."))
        tables = tomlkit.aot()
        for _, entry in sorted(self.locked.items()):
            tables.append(tomlkit.item({name: entry[name] for name in FIELDS}))
        lock["assets"] = tables
        for path, document in ((LOCK, lock), (MANIFEST, self.manifest)):
            text = tomlkit.dumps(document).encode()
            if not path.exists() or path.read_bytes() != text:
                with replacing(path) as file:
                    file.write(text)


def opened() -> Project:
    """Return the project of the current folder.

    Raises:
        Failed: there is none.
    """
    if not MANIFEST.exists():
        raise Failed(f"There is no {MANIFEST} here. Run `{PROGRAM} add ASSET` first.")
    return Project()


def _entries(lock: tomlkit.TOMLDocument) -> list[Entry]:
    entries = lock.unwrap().get("assets", [])
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict) or any(not isinstance(entry.get(name), kind) for name, kind in FIELDS.items()):
            raise Failed(f"{LOCK} has an entry that cam.py did not write. Restore it from version control.")
        if not SLUG.fullmatch(entry["asset"]) or not SLUG.fullmatch(entry["file"]):
            raise Failed(f"{LOCK} names {entry['asset']!r}, which is not an asset. Restore it from version control.")
    return list(entries)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex; empty if there is none."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Downloads


def fetch(api: Api, project: Project, entry: Entry) -> None:
    """Download the locked file of an asset into the project, once its digests are right."""
    target = project.path(entry)
    try:
        link = api.call("POST", f"library/download/{entry['asset']}", version=entry["file"])
    except Refused as refused:
        raise Failed(f"{entry['asset']}: {refused}") from refused
    target.parent.mkdir(parents=True, exist_ok=True)
    # Without a name, so that nothing is left of it after a crash.
    with tempfile.TemporaryFile(dir=target.parent) as package:
        download(link, package, entry["asset"])
        try:
            with zipfile.ZipFile(package) as archive, replacing(target) as file:
                (member,) = (each for each in archive.infolist() if each.filename not in {README, LICENSE})
                if member.file_size != entry["size"]:
                    raise different_file(entry)
                digest = hashlib.sha256()
                with archive.open(member) as source:
                    while block := source.read(BLOCK_BYTES):
                        digest.update(block)
                        file.write(block)
                if digest.hexdigest() != entry["sha256"]:
                    raise different_file(entry)
        except (zipfile.BadZipFile, ValueError) as error:
            raise Failed(f"{entry['asset']}: the package cannot be read. Report it to {SERVICE}.") from error
    say(f"{entry['asset']} {entry['version']}: {target}")


def different_file(entry: Entry) -> Failed:
    """Return the error for a file that is not the one in the lock file."""
    return Failed(
        f"{entry['asset']}: the service sends a different file from the one in {LOCK}, so nothing was written. Look at what changed at "
        f"{SERVICE}/assets/{entry['asset']} before you run `{PROGRAM} add {entry['asset']}` to accept it."
    )


def download(link: Entry, file: io.BufferedRandom, name: str) -> None:
    """Write the package behind a link into an empty file; a cut transfer is continued. The link gets no credential."""
    http, size = session(), link["size"]
    for attempt in range(5):
        start = file.seek(0, os.SEEK_END)
        if start == size:
            break
        time.sleep(attempt)
        headers = {"Range": f"bytes={start}-"} if start else {}
        lost = suppress(requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
        with lost, http.get(link["downloadUrl"], headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as response:
            if response.status_code not in {200, 206}:
                raise Refused(response)
            if response.status_code == requests.codes.ok:
                file.truncate(file.seek(0))
            for block in response.iter_content(TRANSFER_BYTES):
                file.write(block)
                if file.tell() > size:
                    raise Failed(f"{name}: the package is larger than announced. Report it to {SERVICE}.")
                show_progress(name, file.tell(), size)
    file.seek(0)
    if hashlib.file_digest(file, "sha256").hexdigest() != link["checksum"]:
        raise Failed(f"{name}: the download is incomplete or damaged. Run the command again.")


def show_progress(name: str, done: int, size: int) -> None:
    """Show on a terminal how much of a large file is there."""
    if sys.stderr.isatty() and size >= PROGRESS_BYTES:
        print(f"\r{name} {done * 100 // size} %", end="\n" if done == size else "", file=sys.stderr, flush=True)


# Credentials


def credentials_path() -> Path:
    """Return the file with the stored credentials."""
    home = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "cam" / "credentials.json"


def stored_credentials() -> dict[str, str]:
    """Return the stored credentials by service."""
    try:
        found = json.loads(credentials_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def signed_in() -> Api:
    """Return the service with the credential of CAM_TOKEN, or else the stored one."""
    secret = os.environ.get("CAM_TOKEN", "").strip() or stored_credentials().get(SERVICE, "")
    if not secret:
        raise Failed(f"Run `{PROGRAM} login`, or set CAM_TOKEN to a personal token or an API key.")
    return Api(checked(secret))


def checked(secret: str) -> str:
    """Return what looks like a credential.

    Raises:
        Failed: it does not.
    """
    if not re.fullmatch(r"cam_\w{1,200}", secret, re.ASCII):
        raise Failed("That is neither a personal token nor an API key: they begin with cam_.")
    return secret


# Commands


def login(_args: argparse.Namespace) -> int:
    """Check a personal token or an API key, and store it for this service."""
    if sys.stdin.isatty():
        print(f"Create a token with library:read and library:download at {SERVICE}/dashboard/tokens.", file=sys.stderr)
        secret = getpass.getpass("Token or API key: ")
    else:
        secret = sys.stdin.readline(1000)
    secret = checked(secret.strip())
    caller = Api(secret).call("GET", "me")
    with replacing(credentials_path(), 0o600) as file:
        file.write(json.dumps(stored_credentials() | {SERVICE: secret}, indent=1).encode())
    say(f"Stored in {credentials_path()}. Its scopes: {' '.join(caller['scopes']) or 'none'}.")
    return 0


def search(args: argparse.Namespace) -> int:
    """List the assets that fit a text."""
    for found in Api().call("GET", "assets/search", q=" ".join(args.text), limit=args.limit)["results"]:
        prices = ", ".join(f"{each['slug']} {price_of(each)}" for each in found["licenses"])
        say(f"{found['slug']}: {found['title']}, {found['vendor']['storeName']} ({prices})")
    return 0


def price_of(offer: Entry) -> str:
    """Return the prices of a licence in the currencies in which it can be paid."""
    return " or ".join(f"{offer[f'price{currency}']} {currency}" for currency in ("INR", "USD") if offer[f"price{currency}"] is not None)


def owned(items: list[Entry], asset: str, license_slug: str | None) -> Entry | None:
    """Return the licence of an asset by its slug or id; None if it is not owned.

    Raises:
        Failed: it is owned under several licences, and none is named.
    """
    found = [item for item in items if asset in {item["slug"], item["assetId"]} and license_slug in {None, item["licenseSlug"]}]
    if len(found) > 1:
        slugs = ", ".join(sorted(item["licenseSlug"] for item in found))
        raise Failed(f"You own {asset} under several licences: {slugs}. Name one with --license.")
    return found[0] if found else None


def entry_of(item: Entry) -> Entry:
    """Return the entry of the lock file for a licence, with the newest file."""
    file = item["file"]
    if file is None:
        raise Failed(f"{item['slug']}: a reviewer marked the file as malicious. Remove it from {MANIFEST} and from your project.")
    if not SLUG.fullmatch(item["slug"]):
        raise Failed(f"{item['slug']!r} is not the name of an asset. Report it to {SERVICE}.")
    return {
        "asset": item["slug"],
        "license": item["licenseSlug"],
        "version": item["version"],
        "order": item["orderId"],
        "file": file["id"],
        "name": plain_name(file["name"]),
        "size": file["size"],
        "sha256": file["checksum"],
    }


def add(args: argparse.Namespace) -> int:
    """Add owned assets to the project, or move those in it to their newest version. Only with --buy is anything bought."""
    if args.buy and (args.max_price is None or args.currency is None):
        raise Failed("--buy needs --max-price and --currency: the most that each asset may cost.")
    project, api = Project(), signed_in()
    items = api.library()
    for asset in args.asset:
        item = owned(items, asset, args.license)
        if item is None:
            buy(api, asset, args)
            item = owned(api.library(), asset, args.license)
        if item is None:
            raise Failed(f"{asset} is not in your library yet. Run the command again.")
        entry = entry_of(item)
        if digest_of(project.path(entry)) != entry["sha256"]:
            fetch(api, project, entry)
        # Read again, because another `add` may have ended meanwhile.
        project = Project()
        project.locked[entry["asset"]] = entry
        project.assets[entry["asset"]] = entry["license"]
        for slug in sorted(project.assets):
            project.assets.append(slug, project.assets.pop(slug))
        project.save()
    return 0


def buy(api: Api, asset: str, args: argparse.Namespace) -> None:
    """Buy an asset within the price limit, or say what it costs."""
    detail = api.call("GET", f"assets/{quote(asset, safe='')}")
    slug = plain_name(detail["slug"])
    if not args.buy:
        offers = "; ".join(f"{each['slug']} {price_of(each)}" for each in detail["licenses"])
        raise Failed(
            f"You don't own {slug}{f' with the licence {args.license}' if args.license else ''}. It costs: {offers}. Buy it at "
            f"{SERVICE}/assets/{slug}, or add --buy --max-price AMOUNT --currency INR or USD."
        )
    body = {"assetId": slug, "currency": args.currency} | ({"licenseSlug": args.license} if args.license else {})
    offer = api.call("POST", "wallet/quote", body)
    # Not "more than": nothing is more than `nan`.
    if not offer["price"] <= args.max_price:
        raise Failed(f"{slug} costs {offer['price']} {offer['currency']}, more than --max-price. Nothing was bought.")
    order = api.call("POST", "wallet/spend", {"assetId": slug, "quoteId": offer["quoteId"]})
    say(f"{slug}: bought for {order['debited']} {order['currency']}, order {order['orderId']}.")


def sync(args: argparse.Namespace) -> int:
    """Update the lock file to fit the manifest, and download the files that are missing or different."""
    project = opened()
    missing = sorted(slug for slug, wanted in project.assets.items() if project.locked.get(slug, {}).get("license") != wanted)
    extra = sorted(set(project.locked) - set(project.assets))
    if args.frozen and (missing or extra):
        raise Failed(f"{LOCK} does not fit {MANIFEST}: {', '.join(missing + extra)}. Run `sync` without --frozen, and commit {LOCK}.")
    api = signed_in() if missing else None
    items = api.library() if api else []
    for slug in missing:
        item = owned(items, slug, project.assets[slug])
        if item is None:
            raise Failed(f"You don't own {slug} with the licence {project.assets[slug]}. Run `{PROGRAM} add {slug}` to see what it costs.")
        entry = entry_of(item)
        if entry["asset"] != slug:
            raise Failed(f"{MANIFEST} names {entry['asset']} by its id. Write {entry['asset']} instead of {slug}.")
        project.locked[slug] = entry
    for slug in extra:
        del project.locked[slug]
    # Before the downloads, which take time in which the files may change.
    if missing or extra:
        project.save()
    unchanged = 0
    for _, entry in sorted(project.locked.items()):
        if digest_of(project.path(entry)) == entry["sha256"]:
            unchanged += 1
            continue
        api = api or signed_in()
        fetch(api, project, entry)
    say(f"Assets in {project.folder}: {len(project.locked)}, of which {unchanged} unchanged.")
    return 0


def outdated(_args: argparse.Namespace) -> int:
    """List assets whose newest file is not the locked one."""
    project = opened()
    items = {item["orderId"]: item for item in signed_in().library()}
    for slug, entry in sorted(project.locked.items()):
        item = items.get(entry["order"])
        if item and item["file"] and item["file"]["id"] != entry["file"]:
            say(f"{slug}: {entry['version'] or entry['file']} to {item['version'] or item['file']['id']} ({SERVICE}/assets/{slug}/changes)")
    return 0


def audit(args: argparse.Namespace) -> int:
    """Report assets whose licence has ended or is suspended, whose file was withdrawn, or that left the catalog."""
    project, api = opened(), signed_in()
    items = {item["orderId"]: item for item in api.library()}
    status = 0
    for slug, entry in sorted(project.locked.items()):
        finding = finding_of(api, entry, items) if slug not in args.ignore else ""
        if finding:
            say(f"{slug}: {finding}")
            status = 1
    if not status:
        say(f"Nothing found. Assets: {len(project.locked)}.")
    return status


def finding_of(api: Api, entry: Entry, items: dict[str, Entry]) -> str:
    """Return what is wrong with a locked asset; empty if nothing is."""
    item = items.get(entry["order"])
    if item is None:
        others = [each["licenseSlug"] for each in items.values() if each["slug"] == entry["asset"]]
        wider = f" You own it as {', '.join(others)}: add it again." if others else ""
        return f"the licence {entry['license']} has ended: order {entry['order']} was refunded, charged back or upgraded.{wider}"
    if item["suspended"]:
        return "the licence is suspended, because its payment is disputed."
    if item["file"] is None or item["file"]["id"] != entry["file"]:
        try:
            api.call("POST", f"library/download/{entry['asset']}", version=entry["file"])
        except Refused as refused:
            if refused.code not in WITHDRAWN:
                raise
            return str(refused)
    return "" if item["onSale"] else "it is no longer on sale: it was unpublished or taken down, or its store is closed. You keep it."


def listen(args: argparse.Namespace) -> int:
    """Forward events to a local address as webhooks, from now on."""
    secret = os.environ.get("CAM_WEBHOOK_SECRET") or f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError as error:
        raise Failed("CAM_WEBHOOK_SECRET must be whsec_ and base64.") from error
    api, local = signed_in(), requests.Session()
    # Straight to the address, without a proxy and without credentials of the environment.
    local.trust_env = False
    cursor = api.call("GET", "events", after="latest", limit=1)["nextCursor"]
    say(f"Events go to {args.to}, signed with {secret}")
    while True:
        page = api.call("GET", "events", after=cursor, limit=100)
        cursor = page["nextCursor"]
        for event in page["items"]:
            forward(local, args.to, key, event)
        if not page["hasMore"]:
            time.sleep(POLL_SECONDS)


def forward(local: requests.Session, address: str, key: bytes, event: Entry) -> None:
    """Send an event once, with the body, the headers and the signature of a webhook."""
    body = json.dumps({name: event[name] for name in ("type", "timestamp", "data")}, ensure_ascii=False, separators=(",", ":")).encode()
    stamp = str(int(time.time()))
    signature = base64.b64encode(hmac.digest(key, f"{event['id']}.{stamp}.".encode() + body, "sha256")).decode()
    headers = {"webhook-id": event["id"], "webhook-timestamp": stamp, "webhook-signature": f"v1,{signature}"}
    try:
        response = local.post(address, body, headers={**headers, "Content-Type": "application/json"}, timeout=10, allow_redirects=False)
        say(f"{event['type']} {event['id']}: {response.status_code}")
    except requests.RequestException as error:
        say(f"{event['type']} {event['id']}: not delivered ({type(error).__name__})")


def web_address(text: str) -> str:
    """Return an http or https address."""
    if not re.match(r"https?://[^/]", text):
        raise argparse.ArgumentTypeError("an address begins with http:// or https://")
    return text


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = argparse.ArgumentParser(prog="cam.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(run: Any) -> argparse.ArgumentParser:
        made = commands.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        made.set_defaults(run=run)
        return made

    command(login)
    searching = command(search)
    searching.add_argument("text", nargs="+")
    searching.add_argument("--limit", type=int, default=20, help="the most results, up to 50")
    adding = command(add)
    adding.add_argument("asset", nargs="+", help="slug or id")
    adding.add_argument("--license", help="slug of the licence; needed if you own several")
    adding.add_argument("--buy", action="store_true", help="buy what is not owned")
    adding.add_argument("--max-price", type=float, metavar="AMOUNT", help="the most that each asset may cost")
    adding.add_argument("--currency", choices=("INR", "USD"), help="the currency of the price")
    syncing = command(sync)
    syncing.add_argument("--frozen", action="store_true", help="fail if cam.lock does not fit cam.toml; for CI")
    command(outdated)
    auditing = command(audit)
    auditing.add_argument("--ignore", action="append", default=[], metavar="ASSET", help="an asset whose findings are accepted")
    listening = command(listen)
    listening.add_argument("--to", required=True, type=web_address, metavar="ADDRESS", help="such as http://127.0.0.1:8000/webhooks")
    return top


def main() -> int:
    """Run a command and return the exit code."""
    args = parser().parse_args()
    try:
        code: int = args.run(args)
    except Failed as error:
        message = str(error)
    except requests.RequestException as error:
        message = f"{SERVICE} cannot be reached ({type(error).__name__}). Check your connection, and try again."
    except OSError as error:
        message = f"{error.filename or 'A file'} cannot be read or written: {error.strerror}."
    except KeyboardInterrupt:
        return 130
    else:
        return code
    say(f"cam.py: {message}", sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
