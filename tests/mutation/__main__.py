"""Mutants of services, permissions, serializers and signed links, each run against the tests that cover its line.

    uv run --group dev python -m tests.mutation --sample 150

Cosmic Ray makes the mutants, from the last commit, in a clone. The first run measures which tests cover which line (a quarter of an hour); that
and the results stay in `var/mutation` until the source changes, so that an ended run goes on and a larger sample adds to a smaller one.
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from fnmatch import fnmatch
from hashlib import sha256
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

from cosmic_ray import plugins
from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, WorkItem, WorkResult

from tests.__main__ import SELECTED
from tests.checks import ROOT, clean_environment
from tests.servers import migrated

from .covering import Covering, annotations
from .operators import Provider

PACKAGES = ("marketplace", "developers", "catalog", "vendors", "library", "wallet")
MUTATED = (
    "*/services/*.py",
    "*/services.py",
    "*/serializers/*.py",
    "*/serializers.py",
    "developers/permissions.py",
    "developers/webhooks/signing.py",
    "marketplace/core/access.py",
    "marketplace/operations/people.py",
    "marketplace/review/service.py",
)
COVERAGE = f"[run]\nsource = {','.join(PACKAGES)}\nomit = */migrations/*\nrelative_files = true\n"
# Of a mutant's time, what its tests may take; the rest is for the start, and for what the mutant makes slow.
TESTS_TAKE = 0.5
# A mutant that waits uses no processor time: how many times as long it may wait.
WALL = 10
_VERDICT = re.compile(r"```diff\n(.*?)\n```\n\n(.*?)\n(?=\n#|\Z)", re.DOTALL)


def main() -> int:
    """Run the sample; return 0 when at least 95 % of it were killed."""
    options = _arguments()
    folder: Path = options.folder or ROOT / "var" / "mutation" / _source()
    folder.mkdir(parents=True, exist_ok=True)
    plugins.OPERATOR_PROVIDERS["ours"] = Provider()
    with (
        tempfile.TemporaryDirectory(prefix="marketplace-mutants-") as scratch,
        use_db(folder / "session.sqlite3", WorkDB.Mode.create) as session,
    ):
        clone = Path(scratch) / "clone"
        _git("clone", "--quiet", "--shared", str(ROOT), str(clone))
        template = folder.resolve() / "migrated.sqlite3"
        if not template.exists():
            migrated.copy_sqlite(template)
        os.environ |= clean_environment(Path(scratch)) | {migrated.SQLITE: str(template)}
        os.chdir(clone)
        if options.measure is not None or not (folder / "coverage").exists():
            _measure(folder.resolve(), options.measure or [])
        if not session.num_work_items:
            init((path for path in sorted(Path().rglob("*.py")) if any(fnmatch(str(path), pattern) for pattern in MUTATED)), session, {})
        sample = _sample(session.work_items, options)
        _run(sample, session, _covering(folder), options)
        results = dict(session.results)
    os.chdir(ROOT)
    return _report([(item.mutations[0], results[item.job_id]) for item in sample], options)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--seconds", type=float, default=30, help="how much processor time a mutant may take")
    parser.add_argument("--only", default="*", help="mutate files whose path matches this pattern")
    parser.add_argument("--again", action="store_true", help="run those again that survived or timed out")
    parser.add_argument("--measure", nargs="*", help="measure the coverage again, or that of these tests, such as new ones, too")
    parser.add_argument("--folder", type=Path, help="where to keep coverage and results")
    parser.add_argument("--report", type=Path, default=Path(__file__).with_name("report.md").resolve(), help="where to write the survivors")
    return parser.parse_args()


def _source() -> str:
    """Return a digest of the committed source, without the tests."""
    return sha256(_git("rev-parse", *(f"HEAD:{name}" for name in PACKAGES))).hexdigest()[:12]


def _git(*words: str) -> bytes:
    return subprocess.run([shutil.which("git") or "git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def _measure(folder: Path, tests: list[str]) -> None:
    """Run the quick tests on SQLite; keep which lines each runs, how long it takes and whether it fails."""
    (folder / "coveragerc").write_text(COVERAGE)
    os.environ["COVERAGE_FILE"] = str(folder / "coverage")
    command = [sys.executable, "-m", "pytest", "-q", "-m", SELECTED["sqlite"][0], f"--junitxml={folder / 'tests.xml'}"]
    command += ["--cov", f"--cov-config={folder / 'coveragerc'}", "--cov-context=test", "--cov-report=", "--cov-append", *tests]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
    kept = folder / "tests.json"
    seconds: dict[str, float | None] = json.loads(kept.read_text()) if kept.exists() else {}
    # Our own pytest wrote it a moment ago.
    for case in ET.parse(folder / "tests.xml").iter("testcase"):  # noqa: S314
        name = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
        failed = any(child.tag in {"failure", "error"} for child in case)
        seconds[name] = None if failed else float(case.attrib["time"])
    kept.write_text(json.dumps(seconds))


def _covering(folder: Path) -> Covering:
    seconds = json.loads((folder / "tests.json").read_text())
    failed = {name for name, took in seconds.items() if took is None}
    return Covering(folder / "coverage", {name: took for name, took in seconds.items() if took is not None}, failed)


def _sample(items: Iterable[WorkItem], options: argparse.Namespace) -> list[WorkItem]:
    """Return one mutant each of so many places: operators differ in how many they make of one."""
    places: dict[tuple[str, tuple[int, int], tuple[int, int]], list[WorkItem]] = defaultdict(list)
    for item in sorted(
        items, key=lambda item: (str(item.mutations[0].module_path), item.mutations[0].operator_name, item.mutations[0].occurrence)
    ):
        mutation = item.mutations[0]
        path = str(mutation.module_path)
        if fnmatch(path, options.only) and not any(first <= mutation.start_pos < last for first, last in annotations(path)):
            places[path, mutation.start_pos, mutation.end_pos].append(item)
    dice = random.Random(options.seed)
    chosen = [dice.choice(places[place]) for place in sorted(places)]
    dice.shuffle(chosen)
    return list(islice((item for item in chosen if _is_python(item.mutations[0])), options.sample))


def _is_python(mutation: MutationSpec) -> bool:
    """Tell whether the mutant compiles: operators take the star of parameters for a product, and stumble over dotted exceptions."""
    try:
        code = mutate_code(mutation.module_path.read_text("utf-8"), plugins.get_operator(mutation.operator_name)(), mutation.occurrence)
        compile(code, mutation.module_path, "exec")
    except (AttributeError, SyntaxError):
        return False
    return True


def _run(sample: list[WorkItem], session: WorkDB, covering: Covering, options: argparse.Namespace) -> None:
    results = dict(session.results)
    # Processor time, which other programs don't use up; the status tells a test's failure from its limit.
    script = f"ulimit -t {options.seconds:.0f}; {sys.executable} -m pytest -q -x -p no:cacheprovider @covering.txt; status=$?; echo status $status; exit $status"
    command = shlex.join(["sh", "-c", script])
    for number, item in enumerate(sample, 1):
        mutation: MutationSpec = item.mutations[0]
        if item.job_id in results and not (options.again and _outcome(results[item.job_id]) != "killed"):
            continue
        tests = covering.tests(str(mutation.module_path), mutation.start_pos[0], options.seconds * TESTS_TAKE)
        Path("covering.txt").write_text("\n".join(tests or ["--collect-only"]))
        result = mutate_and_test([mutation], command, WALL * options.seconds)
        session.set_result(item.job_id, result)
        where = f"{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name}"
        sys.stdout.write(f"{number}/{len(sample)} {_outcome(result)} by {len(tests)} tests: {where}\n")
        sys.stdout.flush()


def _outcome(result: WorkResult) -> str:
    return "timed out" if re.search(r"^timeout$|^status 152$", result.output, re.MULTILINE) else str(result.test_outcome.value)


def _report(done: list[tuple[MutationSpec, WorkResult]], options: argparse.Namespace) -> int:
    """Write what survived, with the verdicts that the report gives already, and return the exit status."""
    verdicts = dict(_VERDICT.findall(options.report.read_text())) if options.report.exists() else {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    sections: dict[str, list[str]] = {"Timed out": [], "Survived": [], "Survived once, killed now": []}
    for mutation, result in sorted(done, key=lambda each: (str(each[0].module_path), each[0].start_pos)):
        outcome = _outcome(result)
        counts[mutation.module_path.parts[0]][outcome] += 1
        lines = (result.diff or "").splitlines()
        diff = "\n".join(line for line in lines if not re.match(r"---|\+\+\+|@@", line))
        if outcome != "killed" or diff in verdicts:
            text = f"### `{mutation.module_path}`, {mutation.definition_name or 'module'}\n\n```diff\n{diff}\n```\n\n{verdicts.get(diff, 'Not judged yet.')}\n"
            sections["Survived once, killed now" if outcome == "killed" else outcome.capitalize()].append(text)
    total: Counter[str] = sum(counts.values(), Counter())
    rows = [*sorted(counts.items()), ("all", total)]
    table = "".join(f"| {name} | {sum(row.values())} | {row['killed']} | {row['timed out']} | {row['survived']} |\n" for name, row in rows)
    heading = f"# Mutants\n\n`python -m tests.mutation --sample {options.sample} --seed {options.seed}` of {_source()}.\n\n"
    text = heading + "| | mutants | killed | timed out | survived |\n|---|---|---|---|---|\n" + table
    text += "".join(f"\n## {name}\n\n" + "\n".join(each) for name, each in sections.items() if each)
    options.report.write_text(text)
    sys.stdout.write(f"{total['killed']} of {sum(total.values())} killed, {total['timed out']} timed out; see {options.report}\n")
    return 0 if total["killed"] >= 0.95 * sum(total.values()) else 3


if __name__ == "__main__":
    sys.exit(main())
