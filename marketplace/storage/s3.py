"""A storage in an S3 bucket, with django-storages, and with boto3's transfer manager for large files."""

import io
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError, HTTPClientError
from botocore.exceptions import ConnectionError as StoreConnectionError
from django.conf import settings
from django.core.files.base import File
from django.utils.functional import cached_property
from django.utils.http import content_disposition_header
from s3transfer.exceptions import RetriesExceededError
from s3transfer.manager import TransferManager
from s3transfer.subscribers import BaseSubscriber
from storages.backends import s3

from marketplace.core import bounds
from marketplace.core.errors import DependencyUnavailable

from .base import Blocks, ObjectFile, ObjectStorage, Segment, UnfinishedFile, check_key, is_key, storage_errors, waiting_for

# 5 GiB are 640 parts; S3 allows 10,000.
PART_BYTES = 8 * 1024 * 1024
# Four parts at once make up for the latency; more would only take memory.
TRANSFER_CONFIG = TransferConfig(multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, max_concurrency=4)
TRANSFER_CONFIG.max_in_memory_upload_chunks = 4
# The minimum of S3 for all parts but the last.
MIN_PART_BYTES = 5 * 1024 * 1024
# Size of parts copied by the server; S3 allows 5 GiB, but answers only once the copy is complete.
COPIED_PART_BYTES = 128 * 1024 * 1024
# Read timeout of the requests of large transfers: S3 takes its time to complete an upload, or to copy a part.
TRANSFER_SECONDS = 15
# After this many consecutive failures, no requests are made for this many seconds.
MAX_FAILURES, PAUSE_SECONDS = 3, 5.0
_MISSING = {"404", "NoSuchKey", "NotFound"}


class S3Storage(ObjectStorage, s3.S3Storage):  # type: ignore[misc]  # django-storages has no types
    """Stores files in a bucket."""

    transfer_config = TRANSFER_CONFIG
    client_config = Config(
        signature_version="s3v4",
        # Give up long before the caller does.
        connect_timeout=1,
        read_timeout=3,
        retries={"mode": "standard", "total_max_attempts": 2},
        # All threads of a process share one client, including parallel parts of uploads.
        max_pool_connections=32,
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # Shared by all connections.
        self.breaker = Breaker(str(self.endpoint_url))

    @cached_property
    def connection(self) -> Any:
        """The connection shared by all threads; one for each would take ten megabytes."""
        return self._connect(self.endpoint_url, self.client_config)

    @cached_property
    def transfer_connection(self) -> Any:
        """A connection with a longer timeout, for large files."""
        return self._connect(self.endpoint_url, self.client_config.merge(Config(read_timeout=TRANSFER_SECONDS)))

    @cached_property
    def public_connection(self) -> Any:
        """A connection that signs links for the public address."""
        return self._connect(settings.S3_PUBLIC_ENDPOINT_URL or self.endpoint_url, self.client_config)

    def _connect(self, endpoint: str | None, config: Config) -> Any:
        connection = self._create_session().resource(
            "s3", region_name=self.region_name, use_ssl=self.use_ssl, endpoint_url=endpoint, config=config, verify=self.verify
        )
        self.breaker.watch(connection.meta.client)
        return connection

    def _normalize_name(self, name: str) -> str:
        return check_key(name)

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        if mode == "wb":
            return S3File(self, check_key(name))
        file: File[bytes] = super()._open(name, mode)
        return file

    def read(self, key: str, start: int = 0, end: int | None = None) -> Blocks:
        if end is not None and end <= start:
            self.size(key)
            return Blocks(io.BytesIO, 0, s3_errors)
        # S3 refuses any range of an empty object, so a whole read sends none.
        ranged = {} if start == 0 and end is None else {"Range": f"bytes={start}-{'' if end is None else end - 1}"}
        with self.using_store():
            return Blocks(lambda: self.bucket.Object(check_key(key)).get(**ranged)["Body"], None, s3_errors)

    def download(self, key: str, file: BinaryIO) -> None:
        """Write a whole object to an open file, several parts in parallel."""
        with s3_errors():
            self.transfer_connection.Object(self.bucket_name, check_key(key)).download_fileobj(file, Config=self.transfer_config)

    def compose(self, key: str, segments: Sequence[Segment], *, content_type: str) -> None:
        """Store segments as one object; long segments of other objects are copied by the server."""
        with self.using_store():
            upload = self.transfer_connection.Object(self.bucket_name, check_key(key)).initiate_multipart_upload(ContentType=content_type)
            try:
                parts = [
                    {"PartNumber": number, "ETag": self._put(upload.Part(number), part)}
                    for number, part in enumerate(self._parts(segments), start=1)
                ]
                upload.complete(MultipartUpload={"Parts": parts})
            except BaseException:
                _abort(upload)
                raise

    def _put(self, part: Any, content: bytes | tuple[str, str]) -> str:
        if isinstance(content, bytes):
            return str(part.upload(Body=content)["ETag"])
        source, span = content
        return str(part.copy_from(CopySource=f"{self.bucket_name}/{source}", CopySourceRange=span)["CopyPartResult"]["ETag"])

    def _parts(self, segments: Sequence[Segment]) -> Iterator[bytes | tuple[str, str]]:
        """Yield the parts of an object: bytes, or key and range to copy; all but the last have at least the minimum size."""
        buffered = b""
        for segment in segments:
            if isinstance(segment, bytes):
                buffered += segment
                continue
            start, end = segment.start, segment.end
            while start < end:
                missing = MIN_PART_BYTES - len(buffered) if buffered else 0
                if end - start < MIN_PART_BYTES + max(missing, 0):
                    missing = end - start
                if missing > 0:
                    buffered += b"".join(self.read(segment.key, start, start + missing))
                    start += missing
                    continue
                if buffered:
                    yield buffered
                    buffered = b""
                upto = min(start + COPIED_PART_BYTES, end)
                yield check_key(segment.key), f"bytes={start}-{upto - 1}"
                start = upto
        if buffered:
            yield buffered

    def fingerprint(self, key: str) -> str:
        with self.using_store():
            found = self.bucket.Object(check_key(key))
            etag = found.e_tag.strip('"')
            # The ETags of other services than S3 may be longer.
            return f"{found.content_length}-{etag}"[: bounds.OBJECT_FINGERPRINT_CHARS]

    def etag(self, key: str) -> str:
        with self.using_store():
            return str(self.bucket.Object(check_key(key)).e_tag)

    def keys_with_times(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        with s3_errors():
            for found in self.bucket.objects.filter(Prefix=prefix):
                if is_key(found.key):
                    yield found.key, found.last_modified

    def unfinished(self) -> Iterator[UnfinishedFile]:
        with s3_errors():
            for upload in self.bucket.multipart_uploads.all():
                # Other programs may use the bucket too.
                if is_key(upload.object_key):
                    yield UnfinishedFile(f"upload of {upload.object_key}", upload.initiated, partial(_abort, upload))

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        disposition = content_disposition_header(as_attachment=True, filename=filename)
        params = {"Bucket": self.bucket_name, "Key": check_key(key)}
        params |= {"ResponseContentDisposition": disposition, "ResponseContentType": content_type}
        link: str = self.public_connection.meta.client.generate_presigned_url("get_object", Params=params, ExpiresIn=seconds)
        return link

    @contextmanager
    def using_store(self) -> Iterator[None]:
        """Make requests to the file store, without counting as an active request of this process in the meantime."""
        with waiting_for("service"), s3_errors():
            yield


class S3File(ObjectFile):
    """An object that is being written, through a pipe to a transfer manager."""

    def __init__(self, storage: S3Storage, key: str) -> None:
        # The context lasts as long as the file is open: with one for each block, the request would queue again after every block.
        self._waiting = ExitStack()
        self._waiting.enter_context(storage.using_store())
        reader, writer = os.pipe()
        self._pipe = os.fdopen(writer, "wb")
        super().__init__(self._pipe, key)
        self._manager = TransferManager(storage.transfer_connection.meta.client, storage.transfer_config)
        self._transfer = self._manager.upload(
            os.fdopen(reader, "rb"),
            storage.bucket_name,
            key,
            extra_args={"ContentType": storage.default_content_type},
            subscribers=[_CloseReader()],
        )

    def write(self, chunk: Any) -> int:
        """Append bytes; block while the transfers are busy."""
        if self._transfer.done():
            # It failed: raise now, not at the end of the upload.
            self.close()
        with suppress(BrokenPipeError):
            self._pipe.write(chunk)
        return len(chunk)

    def close(self) -> None:
        """Complete the object, which is then visible and durable."""
        with s3_errors():
            with suppress(BrokenPipeError):
                self._pipe.close()
            self._transfer.result()

    def discard(self) -> None:
        """Stop the threads, and wait for running parts, so that none is left in the file store."""
        self._transfer.cancel()
        with suppress(BrokenPipeError):
            self._pipe.close()
        self._manager.shutdown(cancel=True)
        self._waiting.close()


class _CloseReader(BaseSubscriber):  # type: ignore[misc]  # boto has no types
    """Closes the reading end of the pipe after a transfer, so that the writer does not block."""

    def on_done(self, future: Any, **_kwargs: Any) -> None:
        future.meta.call_args.fileobj.close()


class Breaker:
    """A circuit breaker: refuses requests while the file store does not answer, except for occasional probes."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._failures = 0
        self._retry_at = 0.0

    def watch(self, client: Any) -> None:
        """Attach to a client's events."""
        client.meta.events.register("before-call.s3", self._check)
        client.meta.events.register("after-call.s3", self._succeeded)
        client.meta.events.register("after-call-error.s3", self._failed)

    def _check(self, **_kwargs: Any) -> None:
        if self._failures < MAX_FAILURES:
            return
        if time.monotonic() < self._retry_at:
            raise EndpointConnectionError(endpoint_url=self._endpoint, error="it did not answer a moment ago")
        self._retry_at = time.monotonic() + PAUSE_SECONDS

    def _succeeded(self, **_kwargs: Any) -> None:
        self._failures = 0

    def _failed(self, exception: Exception, **_kwargs: Any) -> None:
        if isinstance(exception, HTTPClientError | StoreConnectionError):
            self._failures += 1
            self._retry_at = time.monotonic() + PAUSE_SECONDS


@contextmanager
def s3_errors() -> Iterator[None]:
    """Turn boto's errors into `FileNotFoundError` and `DependencyUnavailable`."""
    try:
        with storage_errors():
            yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _MISSING:
            raise FileNotFoundError(str(error)) from error
        raise DependencyUnavailable("The file store refused the request.") from error
    except (BotoCoreError, HTTPClientError, RetriesExceededError) as error:
        raise DependencyUnavailable("The file store cannot be reached.") from error


def _abort(upload: Any) -> None:
    # It may have been completed or aborted in the meantime.
    with s3_errors(), suppress(upload.meta.client.exceptions.NoSuchUpload):
        upload.abort()
