"""Small makers that the file tests share."""

from marketplace.storage.base import ObjectStorage
from vendors.inspection import Inspection, inspect_deliverable


def put(store: ObjectStorage, key: str, content: bytes) -> None:
    """Store an object."""
    store.save_bytes(key, content)


def inspect(store: ObjectStorage, content: bytes) -> Inspection:
    """Store a deliverable and look into it."""
    put(store, "deliverables/one", content)
    return inspect_deliverable(store=store, key="deliverables/one", size=len(content))
