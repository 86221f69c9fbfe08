"""Small makers that the file tests share."""

from marketplace.core.objects.base import ObjectStore
from vendors.inspection import Inspection, inspect_deliverable


def put(store: ObjectStore, key: str, content: bytes) -> None:
    """Store an object."""
    writer = store.create(key)
    writer.write(content)
    writer.commit()


def inspect(store: ObjectStore, content: bytes) -> Inspection:
    """Store a deliverable and look into it."""
    put(store, "deliverables/one", content)
    return inspect_deliverable(store=store, key="deliverables/one", size=len(content))
