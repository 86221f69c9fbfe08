"""A long run of histories in batches, each with a seed of its own: what is done is on record, so that a run that was stopped goes on."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Record:
    """The file with a line for each batch that is done: its number, and its operations by outcome."""

    path: Path

    def add(self, number: int, outcomes: Counter[str]) -> None:
        """Add a batch; processes append at the same time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"batch": number, "outcomes": dict(outcomes)}) + "\n")

    def batches(self) -> dict[int, dict[str, int]]:
        """Return the outcomes of the batches by number; a line that was cut off does not count."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.exists() else []
        done = [json.loads(line) for line in lines if line.endswith("}}")]
        return {batch["batch"]: batch["outcomes"] for batch in done}

    def outcomes(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for outcomes in self.batches().values():
            total.update(outcomes)
        return total


def record_of(seed: int, folder: Path) -> Record:
    return Record(folder / f"histories-{seed}.jsonl")
