"""Small makers that the file tests share."""

from marketplace.core.objects.base import ObjectStore


def put(store: ObjectStore, key: str, content: bytes) -> None:
    """Store an object."""
    writer = store.create(key)
    writer.write(content)
    writer.commit()
