"""A Django upload handler that counts the bytes of a file and passes them on without buffering the file."""

from typing import Any, Protocol

from django.core.files.uploadhandler import FileUploadHandler

from marketplace.core.errors import BodyTooLarge, InvalidInput
from marketplace.storage.base import BLOCK_BYTES

FIELD = "file"


class Sink(Protocol):
    """A target for the bytes of a file."""

    def write(self, chunk: bytes, /) -> object:
        """Write the next bytes."""


class OnePassHandler(FileUploadHandler):
    """Accepts one part named `file`; any other file part is refused when it begins."""

    # Larger blocks take less CPU, up to this size.
    chunk_size = BLOCK_BYTES

    def __init__(self, sink: Sink, maximum_bytes: int) -> None:
        super().__init__()
        self.given_name = ""
        self.size = 0
        self.begun = False
        self.complete = False
        self._sink = sink
        self._maximum_bytes = maximum_bytes

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin the file; refuse a second one, and files in other fields."""
        super().new_file(*args, **kwargs)
        name = str(self.field_name)
        if name != FIELD:
            raise InvalidInput(errors=[unknown_field(name)])
        if self.begun:
            raise InvalidInput(errors=[{"pointer": f"#/{FIELD}", "code": "too_many", "detail": "Send one file in each request."}])
        self.begun = True
        self.given_name = str(self.file_name)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.size += len(raw_data)
        if self.size > self._maximum_bytes:
            raise BodyTooLarge(maximumBytes=self._maximum_bytes)
        self._sink.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Record that the file's closing boundary was received. For a truncated upload Django does not call this."""
        self.complete = True


def unknown_field(name: str) -> dict[str, str]:
    """Return the error for an unexpected form field."""
    key = name[:80].replace("~", "~0").replace("/", "~1")
    return {"pointer": f"#/{key}", "code": "unknown_field", "detail": f"The only field is {FIELD}."}
