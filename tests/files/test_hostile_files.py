"""Files that are made to do harm, and a child process that they have taken over."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from catalog.models import Deliverable, Listing, Preview
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.storage.base import ObjectStorage
from tests import ROOT
from tests.factories import ListingFactory
from tests.waiting import PATIENCE_SECONDS, until
from vendors.errors import FileRejected
from vendors.models import VendorProfile, VendorStatus
from vendors.sandbox import replies, runner
from vendors.sandbox.runner import Limits, reader_of_bytes, run_in_sandbox

from . import makers
from .helpers import inspect
from .hostile import DELIVERABLES, PREVIEWS, Case, Refused, Taken, Unsupported
from .measuring import Recorder

pytestmark = pytest.mark.full

MIB_AT_MOST = 300
# Of the processor, a quarter of what the service allows: the worst of them takes 2 to 13, depending on the machine and what else it does.
SECONDS_AT_MOST = 30.0


def as_said(facts: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
    return facts


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder(tmp_path)
    monkeypatch.setattr(sys, "executable", str(made.program))
    return made


@pytest.fixture
def listing(bearer_client: Any) -> Listing:
    """A draft without files of an approved vendor."""
    listing: Listing = ListingFactory()
    VendorProfile.objects.create(user=listing.store.owner, store=listing.store, status=VendorStatus.APPROVED)
    return listing


def send(client: Any, listing: Listing, case: Case) -> Any:
    """Upload the case's file under a name and a type that say nothing true."""
    place = case.kind or "file"
    query = "?slot=0" if place == "gallery-image" else ""
    upload = SimpleUploadedFile("wrong.otf", case.build(), content_type="text/html")
    return client.post(f"/api/v1/vendor/assets/{listing.pk}/{place}{query}", {"file": upload}, format="multipart")


def check_verdict(case: Case, response: Any) -> None:
    body = response.json()
    match case.verdict:
        case Taken():
            assert response.status_code == 200, body
            assert case.kind or case.verdict.fits(json.loads(body["technicalJson"])), body
        case Refused(words=words, reason=reason):
            assert (response.status_code, body["code"], body["reason"]) == (400, "file_rejected", reason)
            assert words in body["detail"]
        case Unsupported(words=words):
            assert (response.status_code, body["code"]) == (415, "unsupported_type")
            assert words in body["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize("case", [case for case in (*DELIVERABLES, *PREVIEWS) if case.heavy], ids=str)
def test_file_made_to_take_time_or_memory_gets_its_verdict_within_the_limits_and_leaves_nothing(
    case: Case, listing: Listing, bearer_client: Any, media: Path, recorder: Recorder
) -> None:
    response = send(bearer_client(listing.store.owner, scopes={Scope.VENDOR_MANAGE}), listing, case)
    check_verdict(case, response)
    usage = recorder.last()
    assert usage.mib < MIB_AT_MOST
    assert usage.cpu_seconds < SECONDS_AT_MOST
    if not isinstance(case.verdict, Taken):
        before, listing = vars(listing), Listing.objects.get(pk=listing.pk)
        assert {name: value for name, value in vars(listing).items() if name != "_state"}.items() <= before.items()
        assert not Deliverable.objects.exists()
        assert not Preview.objects.exists()
        assert not [path for path in media.rglob("*") if path.is_file()]


def test_file_is_not_refused_because_its_store_is_too_slow(caplog: pytest.LogCaptureFixture) -> None:
    began = time.monotonic()

    def slow(offset: int, length: int) -> bytes:
        time.sleep(1.5)
        return b"PK\x03\x04".ljust(length, b"\0")

    with pytest.raises(DependencyUnavailable):
        run_in_sandbox("inspect", read_at=slow, size=1000, limits=Limits(cpu_seconds=5, wall_seconds=1), interpret=as_said)
    assert "the file store was too slow for the task inspect on 1000 bytes" in caplog.text
    assert time.monotonic() - began < 60


def test_file_whose_inspection_process_dies_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(FileRejected) as refusal:
        run_in_sandbox("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, PATIENCE_SECONDS), interpret=as_said)
    assert refusal.value.members["reason"] == "limits_exceeded"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_file_whose_inspection_the_system_kills_is_not_refused(
    number: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    children: list[subprocess.Popen[bytes]] = []
    start = runner._start

    def starting(*given: Any) -> subprocess.Popen[bytes]:
        children.append(start(*given))
        return children[-1]

    monkeypatch.setattr(runner, "_start", starting)

    def killing(offset: int, length: int) -> bytes:
        os.kill(children[-1].pid, number)
        return b"x" * length

    with pytest.raises(DependencyUnavailable):
        run_in_sandbox("inspect", read_at=killing, size=1000, limits=Limits(5, PATIENCE_SECONDS), interpret=as_said)
    assert "the task inspect on 1000 bytes was killed from outside" in caplog.text


def test_child_that_takes_too_much_of_the_processor_is_ended_by_a_signal_of_its_own() -> None:
    code = "from vendors.sandbox import worker; worker.limit_self(1)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=PATIENCE_SECONDS)
    assert ended.returncode == -signal.SIGXCPU


def takes_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, said: bytes = b"") -> None:
    """Let a program of the file's own speak in the child's stead."""
    (tmp_path / "said").write_bytes(said)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script.format(said=tmp_path / 'said')}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))


def verdict(text: bytes) -> bytes:
    return struct.pack("<cQI", b"D", 0, len(text)) + text


def facts(inner: bytes) -> bytes:
    return verdict(b'{"outcome": "accepted", "result": ' + inner + b"}")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"D",
        verdict(b"no json"),
        verdict(b"[]"),
        verdict(b"[" * 100_000),
        verdict(b'{"outcome": "accepted", "blobs": [-1]}'),
        verdict(b'{"outcome": "accepted", "blobs": [1e3]}'),
        verdict(b'{"outcome": "accepted", "blobs": [4000000000]}'),
        verdict(b'{"outcome": "accepted", "blobs": [10]}'),
        verdict(b'{"outcome": "accepted"}'),
        facts(b"1"),
        facts(b'{"format": "exe", "entryCount": 1, "uncompressedSize": 1}'),
        facts(b'{"format": ["zip"], "entryCount": 1, "uncompressedSize": 1}'),
        facts(b'{"format": "zip", "entryCount": -1, "uncompressedSize": 1}'),
        facts(b'{"format": "zip", "entryCount": 1, "uncompressedSize": NaN}'),
        facts(b'{"format": "zip", "entryCount": 1, "uncompressedSize": 1e999}'),
        facts(b'{"format": "zip", "entryCount": 1, "uncompressedSize": ' + b"9" * 30 + b"}"),
        facts(b'{"format": "zip", "a": ' + b'{"a": ' * 20 + b"1" + b"}" * 21),
        facts(b'{"format": "zip", "a": "' + b"x" * 100_000 + b'"}'),
        struct.pack("<cQI", b"D", 0, 2**32 - 1),
        struct.pack("<cQI", b"R", 0, 100),
        struct.pack("<cQI", b"R", 2**64 - 1, 1),
        struct.pack("<cQI", b"X", 0, 0),
    ],
)
def test_hostile_reply_of_the_inspection_process_refuses_the_file(
    said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_store: ObjectStorage
) -> None:
    takes_over(monkeypatch, tmp_path, "cat {said}", said)
    with pytest.raises(FileRejected) as refusal:
        inspect(local_store, b"x")
    assert refusal.value.members["reason"] in {"limits_exceeded", "unreadable"}


# The last asks for bytes that it does not read.
@pytest.mark.parametrize("script", ["setsid sleep 120 & exit 0", "trap '' TERM HUP; while :; do :; done", "cat {said}; sleep 120"])
def test_inspection_process_that_keeps_its_pipe_open_times_out(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    takes_over(monkeypatch, tmp_path, script, struct.pack("<cQI", b"R", 0, 2**20) * 3)
    began, content = time.monotonic(), b"x" * 2**20
    with pytest.raises(FileRejected):
        run_in_sandbox("inspect", read_at=reader_of_bytes(content), size=len(content), limits=Limits(5, 0.5), interpret=as_said)
    assert time.monotonic() - began < 60


def test_files_of_one_sender_leave_room_for_those_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WAIT_SECONDS", 0.2)
    over = tmp_path / "over"
    takes_over(monkeypatch, tmp_path, f"touch {tmp_path}/$$.begun; until [ -e {over} ]; do sleep 0.1; done")

    def check(sender: str, seconds: float) -> Any:
        return run_in_sandbox("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, seconds), interpret=as_said, sender=sender)

    with ThreadPoolExecutor() as pool:
        slow = [pool.submit(check, "one", PATIENCE_SECONDS) for _ in range(runner.MAX_CHILDREN_OF_SENDER)]
        until(lambda: len(list(tmp_path.glob("*.begun"))) == len(slow), "the files of one sender to be checked")
        with pytest.raises(DependencyUnavailable):
            check("one", 0.5)
        with pytest.raises(FileRejected):
            check("another", 0.5)
        over.touch()
        assert all(isinstance(each.exception(), FileRejected) for each in slow)


def test_characters_that_databases_refuse_are_replaced_in_inspection_results() -> None:
    said = replies.parse(rb'{"outcome": "accepted", "result": {"a\u0000": "b\ud800c", "n": [1.5, null, true]}}')
    assert said.result == {"a\ufffd": "b?c", "n": [1.5, None, True]}


def test_inspection_process_that_cannot_start_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(DependencyUnavailable):
        run_in_sandbox("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, PATIENCE_SECONDS), interpret=as_said)


def test_incomplete_read_from_the_store_during_an_inspection_is_a_503() -> None:
    with pytest.raises(DependencyUnavailable):
        run_in_sandbox("inspect", read_at=reader_of_bytes(b""), size=1000, limits=Limits(5, PATIENCE_SECONDS), interpret=as_said)


def test_twenty_concurrent_inspections_finish_and_leave_no_processes(local_store: ObjectStorage) -> None:
    content = makers.zipped({"a.txt": b"a"})
    descriptors = len(list(Path("/proc/self/fd").iterdir()))

    def once(_: int) -> Any:
        return run_in_sandbox("inspect", read_at=reader_of_bytes(content), size=len(content), limits=Limits(60, 120), interpret=as_said)

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(once, range(20)))
    assert [each["entryCount"] for each in found] == [1] * 20
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


def test_inspection_process_does_not_import_django() -> None:
    code = (
        "import sys, vendors.sandbox.worker, vendors.sandbox.inspecting, vendors.sandbox.zips, vendors.sandbox.tars,"
        " vendors.sandbox.fonts, vendors.sandbox.audio, vendors.sandbox.mp4, vendors.sandbox.aac, vendors.sandbox.preview_images, vendors.sandbox.preview_fonts, vendors.sandbox.preview_audio;"
        " sys.exit('django' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
