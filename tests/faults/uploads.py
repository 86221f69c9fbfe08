"""The long run: `python -m tests.faults.uploads --count 100 [--seed 1]`.

A third of the uploads ends with a kill -9 of the server, a third with a cut connection, a third with a full disk, each at
a random moment; afterwards the store is swept and everything in it is compared to the records.
"""

import contextlib
import sys
import tempfile
import time
from pathlib import Path

from tests import command_line

from ..servers import Unavailable, s3
from .disks import disk
from .series import MIB, Report, Series
from .service import service

DISK_BYTES = 2048 * MIB
# On S3 large enough for several parts.
SIZES = {"local": (MIB, 12 * MIB), "s3": (2 * MIB, 40 * MIB)}


def run(folder: Path, *, store: str, count: int, seed: int, sizes: tuple[int, int] | None = None) -> Report:
    """Run a series in an empty folder."""
    data, files = folder / "data", folder / "files" if store == "s3" else folder / "data" / "media"
    data.mkdir(parents=True)
    with (
        disk(files, DISK_BYTES) as small,
        s3.running(files) if store == "s3" else contextlib.nullcontext() as server,
        service(data, s3=server) as running,
    ):
        return Series(running, seed=seed, sizes=sizes or SIZES[store], disk=small).run(count)


def main() -> int:
    """Run what was asked for; return 0 when nothing was left behind."""
    parser = command_line("tests.faults.uploads", __doc__)
    parser.add_argument("--count", type=int, default=100, help="uploads on each store (100)")
    parser.add_argument("--seed", type=int, default=1, help="another series of moments (1)")
    options = parser.parse_args()
    failed = False
    for store in SIZES:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="marketplace-faults-") as folder:
            try:
                report = run(Path(folder), store=store, count=options.count, seed=options.seed)
            except Unavailable as reason:
                sys.stdout.write(f"{store}: not tried, {reason}\n")
                continue
        faults = ", ".join(f"{fault} {count} ({report.accepted[fault]} came too late)" for fault, count in report.tried.items())
        sys.stdout.write(f"{store}: {report.tried.total()} uploads in {time.monotonic() - began:.0f} s: {faults}\n  {report.swept}\n")
        sys.stdout.writelines(f"  BROKEN {line}\n" for line in report.broken)
        failed = failed or bool(report.broken)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
