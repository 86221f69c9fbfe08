"""A series of uploads with a fault each, and the checks of the store afterwards."""

import hashlib
import random
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

from ..files import makers
from .client import Upload, break_off, form, upload
from .disks import Disk
from .service import Service

MIB = 2**20
FAULTS = ("kill", "cut", "full")
# Of the breaks, so many come when the whole body was sent: while the file is stored, looked into and recorded.
AFTER_THE_BODY = 0.4
READ_SECONDS = 300


@dataclass
class Report:
    """What came of a series."""

    tried: Counter[str] = field(default_factory=Counter)
    # By fault: the listing has the new file, whole, since the fault came too late to stop it.
    accepted: Counter[str] = field(default_factory=Counter)
    swept: str = ""
    broken: list[str] = field(default_factory=list)


class Series:
    """Uploads to a running service."""

    def __init__(self, service: Service, *, seed: int, sizes: tuple[int, int], disk: Disk | None) -> None:
        self._service = service
        self._random = random.Random(seed)
        self._sizes = sizes
        self._disk = disk
        self._facts = service.prepare(3)
        self._headers = {"Authorization": f"Bearer {self._facts['vendor']}"}
        self.report = Report()
        service.start()
        self._seconds_after_body = self._calibrate()

    def run(self, count: int) -> Report:
        """Upload, break, look; then sweep, and look at everything."""
        faults = [fault for fault in FAULTS if fault != "full" or self._disk]
        for number in range(count):
            self._one(faults[number % len(faults)], number)
        self._service.stop()
        self._sweep()
        return self.report

    def _one(self, fault: str, number: int) -> None:
        listing = self._random.choice(sorted(self._facts["listings"]))
        content = self._archive()
        before = self._record(listing)
        act: Callable[[str, bytes], str] = getattr(self, f"_{fault}")
        words = act(self._path(listing), form(content))
        after = self._record(listing)
        self.report.tried[fault] += 1
        accepted = (after["candidateFile"] or {}).get("checksum") == hashlib.sha256(content).hexdigest()
        self.report.accepted[fault] += accepted
        as_before = before if not accepted else before | {"candidateFile": after["candidateFile"], "updatedAt": after["updatedAt"]}
        self._expect(after == as_before, f"{number} {fault}: the listing is another one")
        self._expect(words == "", f"{number} {fault}: {words}")

    def _kill(self, path: str, body: bytes) -> str:
        self._break(path, body, lambda _: self._service.kill())
        self._service.start()
        return ""

    def _cut(self, path: str, body: bytes) -> str:
        self._break(path, body, self._random.choice([Upload.reset, Upload.close, Upload.half_close]))
        # What the server still does about it, it mostly ends by itself; before the next look it has ended in any case.
        time.sleep(0.2 + self._seconds_after_body)
        self._service.stop()
        self._service.start()
        return ""

    def _full(self, path: str, body: bytes) -> str:
        """Leave less room than the file needs; return what is wrong with the answers."""
        assert self._disk is not None
        self._disk.leave(int(len(body) * self._random.uniform(0.02, 0.95)))
        try:
            answer = upload(self._service.port, path, self._headers, body)
            wrong = self._wrong_readers()
        finally:
            self._disk.restore()
        expected = (answer.status, answer.document.get("code")) == (503, "dependency_unavailable")
        return wrong if expected else f"a full disk answered {answer.status} {answer.document}"

    def _break(self, path: str, body: bytes, act: Callable[[Upload], None]) -> None:
        late = self._random.random() < AFTER_THE_BODY
        at = len(body) if late else self._random.randrange(len(body))
        wait = self._random.uniform(0, 1.3 * self._seconds_after_body) if late else 0
        break_off(self._service.port, path, self._headers, body, at=at, wait=wait, act=act)

    def _wrong_readers(self) -> str:
        """Return what readers cannot do now; nothing, if all is well."""
        listing = min(self._facts["listings"])
        api = f"{self._service.base_url}/api/v1"
        link = requests.post(
            f"{api}/library/download/{listing}",
            headers={"Authorization": f"Bearer {self._facts['buyer']}"},
            timeout=READ_SECONDS,
        )
        pages = [f"{api}/assets", f"{api}/assets/{listing}", f"{api}/previews/{self._facts['preview']}", link.json().get("downloadUrl", "")]
        failed = [page for page in pages if not page or requests.get(page, timeout=READ_SECONDS).status_code != requests.codes.ok]
        return f"readers were refused: {failed}" if failed else ""

    def _calibrate(self) -> float:
        """Upload once in peace; return how long the server took after the last byte."""
        body = form(self._archive())
        request = Upload(self._service.port, self._path(min(self._facts["listings"])), self._headers, len(body))
        request.send(body)
        began = time.monotonic()
        answer = request.answer()
        assert answer.status == requests.codes.ok, answer.document
        # The package of the buyer is there from now on, also where a store must build it.
        assert self._wrong_readers() == ""
        return time.monotonic() - began

    def _archive(self) -> bytes:
        return makers.zipped({"noise.bin": self._random.randbytes(self._random.randint(*self._sizes))}, zipfile.ZIP_STORED)

    def _record(self, listing: str) -> dict[str, Any]:
        answer = requests.get(f"{self._service.base_url}/api/v1/vendor/assets/{listing}", headers=self._headers, timeout=READ_SECONDS)
        assert answer.status_code == requests.codes.ok, answer.text
        record: dict[str, Any] = answer.json()
        return record

    @staticmethod
    def _path(listing: str) -> str:
        return f"/api/v1/vendor/assets/{listing}/file"

    def _sweep(self) -> None:
        # A store may tell the time of writing in whole seconds, rounded up.
        time.sleep(1.1)
        state = self._service.ask("swept_state")
        (swept, missing), (again, _), (verified, different) = state["swept"], state["again"], state["verified"]
        self.report.swept = swept.strip().rpartition("\n")[2]
        self._expect(not missing, f"the sweep found records without files: {swept}{missing}")
        self._expect(again.startswith("0 files without a record and 0 incomplete"), f"the second sweep found more: {again}")
        self._expect(not different, f"stored files differ from their records: {verified}{different}")
        for key in sorted(state["recorded"].keys() | state["stored"].keys()):
            recorded, stored = state["recorded"].get(key), state["stored"].get(key)
            self._expect(recorded == stored, f"{key}: recorded {recorded}, stored {stored}")
        self._expect(state["unfinished"] == [], "uploads were left unfinished")
        self._expect(state["live"] == self._facts["listings"], "a reviewed file is another one")
        files = sorted(key for key in state["recorded"] if key.startswith("deliverables/"))
        self._expect(state["pointed"] == files, "a file belongs to no listing")

    def _expect(self, held: object, otherwise: str) -> None:
        if not held:
            self.report.broken.append(otherwise)
