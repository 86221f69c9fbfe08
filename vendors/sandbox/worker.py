"""Entry point of the child process: `python -m vendors.sandbox.worker <task> <size> <cpu seconds> <options>`, started by `runner`."""

import importlib
import json
import os
import resource
import sys
import traceback
from contextlib import suppress
from typing import Any, BinaryIO

from . import confinement, source
from .exceptions import Rejected, TooMuch, Unsupported

ADDRESS_SPACE_BYTES = 2**30
# Room for the input and for the output of the font sanitizer, the only files that are written.
FILE_BYTES = 64 * 2**20
# Only the module of the task is imported, because start-up takes most of a task's time.
TASKS = {
    "inspect": "vendors.sandbox.inspecting",
    "image": "vendors.sandbox.preview_images",
    "font": "vendors.sandbox.preview_fonts",
    "audio": "vendors.sandbox.preview_audio",
    "open": "vendors.sandbox.archive_files",
    "glyphs": "vendors.sandbox.glyphs",
    "logo": "vendors.sandbox.logos",
    "font-styles": "vendors.sandbox.font_styles",
    "animations": "vendors.sandbox.animations",
}


def limit_self(cpu_seconds: int) -> None:
    """Set this process's resource limits: memory, CPU time, file size."""
    for resource_kind, soft, hard in (
        (resource.RLIMIT_AS, ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES),
        # The soft limit sends SIGXCPU, the hard one SIGKILL, which the parent would take for a kill from outside.
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 64, 64),
    ):
        # Not every system supports every limit; the parent's timeout works everywhere.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource_kind, (soft, hard))


def run(task: str, file: BinaryIO, size: int, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Run the task with its options; return the verdict as a JSON object, and the blobs that follow it."""
    try:
        result, blobs = importlib.import_module(TASKS[task]).run(file, size, **options)
    except Unsupported as refusal:
        return {"outcome": "unsupported", "reason": str(refusal)}, []
    except TooMuch as refusal:
        return {"outcome": "too much", "reason": str(refusal)}, []
    except Rejected as refusal:
        return {"outcome": "rejected", "reason": str(refusal)}, []
    except MemoryError:
        return {"outcome": "rejected", "reason": "It needs far more memory than a file of its kind should."}, []
    except Exception:  # noqa: BLE001 - parsers raise anything on hostile bytes; the parent logs it and refuses the file
        return {"outcome": "crashed", "reason": traceback.format_exc(limit=-6)[-4000:]}, []
    return {"outcome": "accepted", "result": result, "blobs": [len(blob) for blob in blobs]}, blobs


def main() -> None:
    """Run one task and exit."""
    task, size, cpu_seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    limit_self(cpu_seconds)
    confinement.confine()
    answers = os.fdopen(os.dup(0), "rb")
    requests = os.fdopen(os.dup(1), "wb")
    # Nothing that a library prints may end up in the reply.
    os.dup2(2, 1)
    verdict, blobs = run(task, source.open_parent_file(answers, requests, size), size, **json.loads(sys.argv[4]))
    encoded = json.dumps(verdict).encode()
    requests.write(source.MESSAGE_HEAD.pack(source.DONE, 0, len(encoded)) + encoded)
    for blob in blobs:
        requests.write(blob)
    requests.flush()
    # Exits without cleanup, which is not needed here and slow with large libraries loaded.
    os._exit(0)


if __name__ == "__main__":
    main()
