"""Files in an S3 bucket, through django-storages' connection and settings."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache, partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from django.conf import settings
from django.utils.http import content_disposition_header
from storages.backends.s3 import S3Storage

from .. import bounds
from ..errors import DependencyUnavailable
from .base import BLOCK_BYTES, ObjectMissing, Unfinished, check_key, is_key

# 5 GiB are 640 parts, of the 10,000 that an upload may have.
PART_BYTES = 8 * 1024 * 1024
# Four parts under way hide the latency of each; more only costs memory.
PARTS_IN_FLIGHT = 4
# S3 takes no smaller part, except for the last one.
LEAST_PART_BYTES = 5 * 1024 * 1024
# What the store copies by itself in one request; S3 allows 5 GiB, but it answers only when all is copied.
COPIED_PART_BYTES = 128 * 1024 * 1024
_MISSING = {"404", "NoSuchKey", "NoSuchUpload", "NotFound"}


class S3Store:
    """An `ObjectStore` in the bucket of a django-storages S3 storage."""

    def __init__(self, storage: S3Storage) -> None:
        self._storage = storage
        self.bucket: str = storage.bucket_name
        # Not the storage's own connection, of which every thread makes itself one that weighs ten megabytes: clients may be shared.
        self.client: Any = _client_for(storage, storage.endpoint_url)

    def create(self, key: str, *, content_type: str = "application/octet-stream") -> "S3Writer":
        """Begin an object; the upload is opened on the store with its first full part."""
        return S3Writer(self, check_key(key), content_type)

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end` of one ranged request."""
        if end is not None and end <= start:
            self.size(key)
            return iter(())
        # S3 refuses a range that begins at the end of an empty object: a whole read asks for none.
        whole = start == 0 and end is None
        ranged = {} if whole else {"Range": f"bytes={start}-{'' if end is None else end - 1}"}
        with _store_errors(key):
            answer = self.client.get_object(Bucket=self.bucket, Key=check_key(key), **ranged)
        return _Blocks(answer["Body"])

    def size(self, key: str) -> int:
        """Return the size in bytes."""
        with _store_errors(key):
            return int(self.client.head_object(Bucket=self.bucket, Key=check_key(key))["ContentLength"])

    def fingerprint(self, key: str) -> str:
        """Return size and ETag: the store makes it from the content."""
        with _store_errors(key):
            found = self.client.head_object(Bucket=self.bucket, Key=check_key(key))
        # Services that are compatible with S3 make ETags of their own liking.
        return f"{found['ContentLength']}-{found['ETag'].strip(chr(34))}"[: bounds.FINGERPRINT_CHARS]

    def etag(self, key: str) -> str:
        """Return the ETag as the store sends it."""
        with _store_errors(key):
            return str(self.client.head_object(Bucket=self.bucket, Key=check_key(key))["ETag"])

    def delete(self, key: str) -> None:
        """Remove the object; S3 itself does not mind one that is not there."""
        with _store_errors():
            self.client.delete_object(Bucket=self.bucket, Key=check_key(key))

    def keys(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield what the bucket lists, a thousand for each request."""
        with _store_errors():
            for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix):
                for row in page.get("Contents", ()):
                    if is_key(row["Key"]):
                        yield row["Key"], row["LastModified"]

    def unfinished(self) -> Iterator[Unfinished]:
        """Yield the multipart uploads that were neither completed nor aborted; the store keeps their parts."""
        with _store_errors():
            for page in self.client.get_paginator("list_multipart_uploads").paginate(Bucket=self.bucket):
                for row in page.get("Uploads", ()):
                    remove = partial(self._abort, row["Key"], row["UploadId"])
                    yield Unfinished(f"upload of {row['Key']}", row["Initiated"], remove)

    def _abort(self, key: str, upload_id: str) -> None:
        try:
            with _store_errors(key):
                self.client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload_id)
        except ObjectMissing:
            # Completed or aborted meanwhile.
            return

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return a link on the public address of the store, as a download under `filename`."""
        with _store_errors():
            link: str = _public_client(self._storage).generate_presigned_url(
                "get_object",
                Params={
                    "Bucket": self.bucket,
                    "Key": check_key(key),
                    "ResponseContentDisposition": content_disposition_header(as_attachment=True, filename=filename),
                    "ResponseContentType": content_type,
                },
                ExpiresIn=seconds,
            )
            return link


class S3Writer:
    """An object on its way in: one request when it fits in a part, else a multipart upload."""

    def __init__(self, store: S3Store, key: str, content_type: str) -> None:
        self._store = store
        self._client = store.client
        self._target = {"Bucket": store.bucket, "Key": key}
        self._content_type = content_type
        # Joined once they fill a part: a buffer that grows is copied each time it does.
        self._blocks: list[bytes] = []
        self._size = 0
        self._upload_id = ""
        self._etags: list[str] = []
        self._under_way: deque[Future[str]] = deque()
        self._pool: ThreadPoolExecutor | None = None

    def write(self, chunk: bytes) -> None:
        """Append bytes; a full part leaves at once, and waits when enough are under way."""
        while self._size + len(chunk) >= PART_BYTES:
            missing = PART_BYTES - self._size
            self._blocks.append(chunk[:missing])
            chunk = chunk[missing:]
            with _store_errors():
                self._send()
        if chunk:
            self._blocks.append(chunk)
            self._size += len(chunk)

    def write_object(self, key: str, start: int, end: int) -> None:
        """Append a part of a stored object: what is large enough the store copies by itself, the ends pass through here."""
        lead = max(LEAST_PART_BYTES - self._size, 0) if self._size else 0
        if end - start - lead >= LEAST_PART_BYTES:
            self._write_blocks(key, start, start + lead)
            with _store_errors(key):
                if self._size:
                    self._send()
                start += lead
                while end - start >= LEAST_PART_BYTES:
                    upto = min(start + COPIED_PART_BYTES, end)
                    self._copy(f"{self._target['Bucket']}/{check_key(key)}", f"bytes={start}-{upto - 1}")
                    start = upto
        self._write_blocks(key, start, end)

    def _write_blocks(self, key: str, start: int, end: int) -> None:
        for block in self._store.read(key, start, end) if start < end else ():
            self.write(block)

    def _take(self) -> bytes:
        """Return what was not sent yet, and forget it."""
        part = b"".join(self._blocks)
        self._blocks.clear()
        self._size = 0
        return part

    def _send(self) -> None:
        """Let what was written go its way as a part."""
        pool, number = self._free_place()
        # Joined only now: while it waited there was one part less in memory.
        self._under_way.append(pool.submit(self._put_part, number, self._take()))

    def _copy(self, source: str, span: str) -> None:
        """Let the store make a part of a stretch of another object."""
        pool, number = self._free_place()
        self._under_way.append(pool.submit(self._copy_part, number, source, span))

    def _free_place(self) -> tuple[ThreadPoolExecutor, int]:
        """Return who sends the next part and its number, once few enough are under way."""
        if self._pool is None:
            self._upload_id = self._client.create_multipart_upload(**self._target, ContentType=self._content_type)["UploadId"]
            self._pool = ThreadPoolExecutor(PARTS_IN_FLIGHT, thread_name_prefix="s3-part")
        if len(self._under_way) == PARTS_IN_FLIGHT:
            self._etags.append(self._under_way.popleft().result())
        return self._pool, len(self._etags) + len(self._under_way) + 1

    def _put_part(self, number: int, part: bytes) -> str:
        answer = self._client.upload_part(**self._target, UploadId=self._upload_id, PartNumber=number, Body=part)
        return str(answer["ETag"])

    def _copy_part(self, number: int, source: str, span: str) -> str:
        target = self._target | {"UploadId": self._upload_id, "PartNumber": number}
        answer = self._client.upload_part_copy(**target, CopySource=source, CopySourceRange=span)
        return str(answer["CopyPartResult"]["ETag"])

    def commit(self) -> None:
        """Make the object visible; the store answers once it is durable."""
        with _store_errors():
            if self._pool is None:
                self._client.put_object(**self._target, Body=self._take(), ContentType=self._content_type)
                return
            if self._size:
                self._send()
            self._etags += [part.result() for part in self._under_way]
            parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(self._etags, start=1)]
            self._client.complete_multipart_upload(**self._target, UploadId=self._upload_id, MultipartUpload={"Parts": parts})
            self._upload_id = ""
            self._close()

    def abort(self) -> None:
        """Leave nothing behind; parts still under way are waited for, else the store would keep them."""
        self._blocks.clear()
        self._close()
        if self._upload_id:
            # A completion whose answer was lost has ended the upload.
            with suppress(ObjectMissing), _store_errors(self._target["Key"]):
                self._client.abort_multipart_upload(**self._target, UploadId=self._upload_id)
            self._upload_id = ""

    def _close(self) -> None:
        self._under_way.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


class _Blocks:
    """The body of an answer in blocks; the connection goes back to the pool at the end, or is closed."""

    def __init__(self, body: Any) -> None:
        self._body = body

    def __iter__(self) -> "_Blocks":
        return self

    def __next__(self) -> bytes:
        with _store_errors():
            block: bytes = self._body.read(BLOCK_BYTES)
        if not block:
            self.close()
            raise StopIteration
        return block

    def close(self) -> None:
        self._body.close()


@contextmanager
def _store_errors(key: str = "") -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if key and error.response.get("Error", {}).get("Code") in _MISSING:
            raise ObjectMissing(key) from error
        raise DependencyUnavailable("The file store refused the request.") from error
    except (BotoCoreError, HTTPClientError) as error:
        raise DependencyUnavailable("The file store cannot be reached.") from error


def _public_client(storage: S3Storage) -> Any:
    """Return a client that signs for the address that buyers' browsers see."""
    return _client_for(storage, settings.S3_PUBLIC_ENDPOINT_URL or storage.endpoint_url)


@cache
def _client_for(storage: S3Storage, endpoint: str | None) -> Any:
    # Making a client takes tens of milliseconds; there is one storage, its address, and a public one.
    return storage._create_session().client(
        "s3",
        region_name=storage.region_name,
        use_ssl=storage.use_ssl,
        endpoint_url=endpoint,
        config=storage.client_config,
        verify=storage.verify,
    )
