"""Small makers that the file tests share."""

import hashlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

from catalog.models import Deliverable
from marketplace.storage import default_storage
from marketplace.storage.base import ObjectStorage
from tests.factories import DeliverableFactory
from vendors.inspection import Inspection, inspect_deliverable
from vendors.sandbox import font_facts, replies, worker
from vendors.sandbox.runner import Limits, ReadAt

BOUNDARY = "----boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


class Unread:
    """A body that fails the test when it is read."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")

    readline = read


def knock(client: Any, path: str, **headers: str) -> Any:
    """Send the headers of an upload; its body fails the test when it is read."""
    given = {"CONTENT_LENGTH": "1000", "CONTENT_TYPE": "multipart/form-data; boundary=x"} | headers
    environ: dict[str, Any] = {name: value for name, value in given.items() if value} | {"wsgi.input": Unread()}
    return client.generic("POST", path, "", given["CONTENT_TYPE"], **environ)


def form(content: bytes, *, name: str = "file", filename: str | None = "font.zip", close: bool = True) -> bytes:
    """Return the body of a form with one part."""
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\nContent-Type: application/zip\r\n\r\n'
    tail = f"\r\n--{BOUNDARY}--\r\n" if close else ""
    return head.encode() + content + tail.encode()


def stored(media: Path) -> list[str]:
    return sorted(str(path.relative_to(media)) for path in media.rglob("*") if path.is_file())


def recorded(content: bytes = b"content", **fields: Any) -> Deliverable:
    """Return the record of a stored deliverable."""
    file: Deliverable = DeliverableFactory(file_size=len(content), sha256=hashlib.sha256(content).hexdigest(), **fields)
    default_storage.save_bytes(file.object_key, content)
    return file


def inspect(store: ObjectStorage, content: bytes) -> Inspection:
    """Store a deliverable and look into it."""
    store.save_bytes("deliverables/one", content)
    return inspect_deliverable(storage=store, key="deliverables/one", size=len(content))


def without_a_child(arguments: list[str], read_at: ReadAt, size: int, limits: Limits) -> tuple[replies.Verdict, list[bytes]]:
    """Stand in for `runner._exchange`: what the parsers say, without the quarter of a second that a child takes to start."""
    task, _, _, options = arguments
    # A process inspects one file: this is the next one's.
    font_facts._budget = font_facts.Budget()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome, blobs = worker.run(task, io.BufferedReader(io.BytesIO(read_at(0, size)), 2**20), size, **json.loads(options))
    return replies.parse(json.dumps(outcome).encode()), blobs
