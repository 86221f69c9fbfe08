"""A Django upload handler that counts the bytes of a file and streams them on, without keeping them."""

from typing import Any, Protocol

from django.core.files.uploadhandler import FileUploadHandler

from marketplace.core.errors import BodyTooLarge, InvalidInput
from marketplace.core.objects.base import BLOCK_BYTES

FIELD = "file"
HEAD_BYTES = 512


class Sink(Protocol):
    """Where the bytes go."""

    def write(self, chunk: bytes) -> None:
        """Take the next bytes."""


class OnePassHandler(FileUploadHandler):
    """Takes the one part named `file`; anything else is refused when it begins."""

    # Fewer, larger blocks cost less CPU up to here.
    chunk_size = BLOCK_BYTES

    def __init__(self, sink: Sink, maximum_bytes: int) -> None:
        super().__init__()
        self.given_name = ""
        self.size = 0
        self.head = b""
        self.begun = False
        self.complete = False
        self._sink = sink
        self._maximum_bytes = maximum_bytes

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin the file, unless there was one already or it is another field."""
        super().new_file(*args, **kwargs)
        name = str(self.field_name)
        if name != FIELD:
            raise InvalidInput(errors=[unknown_field(name)])
        if self.begun:
            raise InvalidInput(errors=[{"pointer": f"#/{FIELD}", "code": "too_many", "detail": "Send one file in each request."}])
        self.begun = True
        self.given_name = str(self.file_name)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Pass a block on."""
        self.size += len(raw_data)
        if self.size > self._maximum_bytes:
            raise BodyTooLarge(maximumBytes=self._maximum_bytes)
        if len(self.head) < HEAD_BYTES:
            self.head += raw_data[: HEAD_BYTES - len(self.head)]
        self._sink.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Note that the boundary after the file came; Django tells of a cut upload by not calling this."""
        self.complete = True


def unknown_field(name: str) -> dict[str, str]:
    """Return the error of a form field that nobody asked for."""
    key = name[:80].replace("~", "~0").replace("/", "~1")
    return {"pointer": f"#/{key}", "code": "unknown_field", "detail": f"The only field is {FIELD}."}
