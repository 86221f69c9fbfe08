"""A long run of histories in batches, each with a seed of its own: what is done is on record, so that a run that was stopped goes on."""

import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# In a batch, so that little is lost when a run is stopped.
HISTORIES_IN_A_BATCH = 10


@dataclass
class Record:
    """The file with a line for each batch that is done: its number, its operations by outcome and its seconds."""

    path: Path

    def add(self, number: int, outcomes: Counter[str], seconds: float) -> None:
        """Add a batch; processes append at the same time."""
        line = json.dumps({"batch": number, "seconds": round(seconds, 2), "outcomes": dict(outcomes)}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def batches(self) -> dict[int, dict[str, Any]]:
        """Return the batches by number; a line that was cut off does not count."""
        found = {}
        for line in self.path.read_text("utf-8").splitlines() if self.path.exists() else []:
            try:
                batch = json.loads(line)
            except ValueError:
                continue
            found[batch["batch"]] = batch
        return found

    def outcomes(self) -> Counter[str]:
        """Return how often each operation ended how, in all batches."""
        total: Counter[str] = Counter()
        for batch in self.batches().values():
            total.update(batch["outcomes"])
        return total


def record_of(seed: int, folder: Path) -> Record:
    """Return the record of the run that begins with a seed."""
    return Record(folder / f"histories-{seed}.jsonl")


class Progress:
    """Tells how far a run is."""

    def __init__(self, record: Record, wanted: int) -> None:
        self.record, self.wanted = record, wanted
        self.began, self.before = time.monotonic(), record.outcomes().total()

    def sentence(self) -> str:
        """Return the operations so far, and how many a second there were since this run began."""
        done = self.record.outcomes().total()
        a_second = (done - self.before) / max(time.monotonic() - self.began, 1e-9)
        return f"{done:,} of {self.wanted:,} operations, {a_second:.0f} a second"
