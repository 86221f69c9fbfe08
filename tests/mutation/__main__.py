"""Mutants of services, permissions, serializers and signed links, each run against the tests that cover its line.

    uv run --group dev python -m tests.mutation --sample 150

Cosmic Ray makes the mutants, from the last commit, in a clone. The first run measures which tests cover which line (a quarter of an hour); that
and the results stay in `var/mutation` until the source changes, so that an ended run goes on and a larger sample adds to a smaller one.
"""

import argparse
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from functools import cache
from hashlib import sha256
from itertools import groupby, islice
from pathlib import Path
from xml.etree import ElementTree as ET

from cosmic_ray import plugins
from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, WorkItem, WorkResult

from benchmarks import MISSED
from tests import ROOT, command_line
from tests.__main__ import PLAIN
from tests.architecture.source import PACKAGES
from tests.checks import clean_environment
from tests.servers import migrated

from .covering import Covering
from .operators import OPERATORS

MUTATED = (
    "*/services/*.py",
    "*/services.py",
    "*/serializers/*.py",
    "*/serializers.py",
    "developers/permissions.py",
    "developers/webhooks/signing.py",
    "marketplace/core/access.py",
    "marketplace/operations/deletion.py",
    "marketplace/operations/personal_data.py",
    "marketplace/review/service.py",
    "wallet/*_differences.py",
    "wallet/card_credit.py",
    "wallet/invoice_documents.py",
    "wallet/payout_files.py",
    "wallet/providers/*.py",
    "wallet/reconciliation.py",
    "wallet/tax.py",
)
# What reads every module covers all of its lines; so does what compares the document of the API with the contract, of its serializers.
OF_THE_SOURCE = (
    "tests/architecture/test_source.py",
    "tests/architecture/test_documented.py::test_audit_log_documents_no_action_that_the_code_does_not_record",
)
OF_SERIALIZERS = tuple(
    f"tests/contract/test_document.py::test_{name}"
    for name in ("response_is_documented_as_the_table_has_it", "field_is_documented", "parameters_are_documented")
)
# Changes without an effect: of a declaration that only the type checker reads, of a number or a set into bits, of `is` into `==`.
DECLARATIONS = re.compile(r"@dataclass\(|^class .*(TypedDict|total=)")
SAME = re.compile(r"_BitOr_|_(Bit(Or|And|Xor)|[LR]Shift)$|_Is_Eq$|_IsNot_NotEq$|_Eq_Is$|_NotEq_IsNot$")
COVERAGE = f"[run]\nsource = {','.join(PACKAGES)}\nomit = */migrations/*\nrelative_files = true\n"
# The processor time of a mutant.
SECONDS = 30
GOAL = 0.95
_VERDICT = re.compile(r"```diff\n(.*?)\n```\n\n(.*?)\n(?=\n#|\Z)", re.DOTALL)


def main() -> int:
    """Run the sample; return 0 when at least 95 % of it were killed."""
    options = _arguments()
    folder: Path = (options.folder or ROOT / "var" / "mutation" / _source()).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    plugins.OPERATOR_PROVIDERS["ours"] = OPERATORS
    with tempfile.TemporaryDirectory(prefix="marketplace-mutants-") as scratch, use_db(folder / _session(options.only)) as session:
        clone = Path(scratch) / "clone"
        _git("clone", "--quiet", "--shared", str(ROOT), str(clone))
        template = folder / "migrated.sqlite3"
        if not template.exists():
            migrated.copy_sqlite(template)
        os.environ |= clean_environment(Path(scratch)) | {migrated.SQLITE: str(template)}
        os.chdir(clone)
        if options.measure is not None or not (folder / "coverage").exists():
            _measure(folder, options.measure or [])
        if not session.num_work_items:
            paths = [path for path in sorted(Path().rglob("*.py")) if any(fnmatch(str(path), pattern) for pattern in MUTATED)]
            init([path for path in paths if fnmatch(str(path), options.only)], session, {})
        sample = list(islice(_sample(session.work_items, options), options.sample))
        covering = Covering(folder / "coverage", _passed(folder))
        results = dict(session.results)
        for number, item in enumerate(sample, 1):
            if item.job_id not in results:
                results[item.job_id] = _try(item.mutations[0], covering)
                session.set_result(item.job_id, results[item.job_id])
                sys.stdout.write(f"{number}/{len(sample)} {_outcome(results[item.job_id])}: {_place(item)}\n")
                sys.stdout.flush()
        os.chdir(ROOT)
    report = Path(__file__).with_name("report.md") if options.folder is None and options.only == "*" else folder / "report.md"
    return _report([(item.mutations[0], results[item.job_id]) for item in sample], report, options)


def _arguments() -> argparse.Namespace:
    parser = command_line("tests.mutation", __doc__)
    parser.add_argument("--sample", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--only", default="*", help="mutate files whose path matches this pattern")
    parser.add_argument("--measure", nargs="*", help="measure the coverage of these tests too, such as new ones")
    parser.add_argument("--folder", type=Path, help="where to keep coverage, results and report")
    return parser.parse_args()


def _session(only: str) -> str:
    """Return the name of the file of results, which are kept apart for `--only`."""
    return "session.sqlite3" if only == "*" else f"session-{sha256(only.encode()).hexdigest()[:8]}.sqlite3"


def _source() -> str:
    """Return a digest of the committed source, without the tests."""
    return sha256(_git("rev-parse", *(f"HEAD:{name}" for name in PACKAGES))).hexdigest()[:12]


def _git(*words: str) -> bytes:
    return subprocess.run([shutil.which("git") or "git", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def _measure(folder: Path, tests: list[str]) -> None:
    """Run the quick tests on SQLite; keep which lines each runs, how long it takes and whether it fails."""
    (folder / "coveragerc").write_text(COVERAGE)
    os.environ["COVERAGE_FILE"] = str(folder / "coverage")
    number = len(list(folder.glob("tests-*.xml")))
    command = [sys.executable, "-m", "pytest", "-q", "-m", f"{PLAIN} and not postgres", f"--junitxml={folder / f'tests-{number:03}.xml'}"]
    command += ["--cov", f"--cov-config={folder / 'coveragerc'}", "--cov-context=test", "--cov-report=", "--cov-append", *tests]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=False)


def _passed(folder: Path) -> dict[str, float]:
    """Return how long each test that passed took: those that fail without a mutant prove nothing."""
    seconds: dict[str, float] = {}
    for report in sorted(folder.glob("tests-*.xml")):
        # Our own pytest wrote it.
        for case in ET.parse(report).iter("testcase"):  # noqa: S314
            name = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
            seconds.pop(name, None)
            if not len(case) and _is_there(name.partition("[")[0]):
                seconds[name] = float(case.attrib["time"])
    return seconds


@cache
def _is_there(test: str) -> bool:
    """Tell whether a test that was measured still exists: pytest would fail without it, mutant or not."""
    path, _, name = test.partition("::")
    return Path(path).exists() and f"def {name}(" in Path(path).read_text("utf-8")


def _place(item: WorkItem) -> str:
    mutation = item.mutations[0]
    return f"{mutation.module_path}:{mutation.start_pos[0]:04}:{mutation.start_pos[1]:03}-{mutation.end_pos} {mutation.operator_name}"


def _sample(items: Iterable[WorkItem], options: argparse.Namespace) -> Iterator[WorkItem]:
    """Yield one mutant each of places in a random order, which a change of other lines leaves as it is: operators differ in how many they make of one."""
    ordered = sorted(items, key=lambda item: (_place(item), item.mutations[0].occurrence))
    chosen = []
    for place, same in groupby(ordered, key=lambda item: _place(item).partition(" ")[0]):
        mutants = list(same)
        dice = random.Random(f"{options.seed} {_line(mutants[0].mutations[0])}")
        chosen.append((dice.random(), place, dice.choice(mutants)))
    return (item for *_, item in sorted(chosen, key=lambda each: each[:2]) if _is_mutant(item.mutations[0]))


def _line(mutation: MutationSpec) -> str:
    """Return where a mutant is without the number of its line: its module and function, the text of the line, and the place in it."""
    line = mutation.module_path.read_text("utf-8").splitlines()[mutation.start_pos[0] - 1]
    indent = len(line) - len(line.lstrip())
    return f"{mutation.module_path} {mutation.definition_name} {line.strip()} {mutation.start_pos[1] - indent}"


def _is_mutant(mutation: MutationSpec) -> bool:
    """Tell whether it compiles and can matter: operators take unions of types for numbers, and stumble over stars and dotted exceptions."""
    source = mutation.module_path.read_text("utf-8")
    try:
        compile(mutate_code(source, plugins.get_operator(mutation.operator_name)(), mutation.occurrence), mutation.module_path, "exec")
    except (AttributeError, SyntaxError):
        return False
    return not (SAME.search(mutation.operator_name) or DECLARATIONS.search(source.splitlines()[mutation.start_pos[0] - 1]))


def _try(mutation: MutationSpec, covering: Covering) -> WorkResult:
    """Run the tests that cover a mutant: as many as take half of its time without it, since the start of pytest takes some too."""
    tests = [*covering.tests(str(mutation.module_path), mutation.start_pos[0], SECONDS / 2), *OF_THE_SOURCE]
    if "serializers" in str(mutation.module_path):
        tests += OF_SERIALIZERS
    Path("covering.txt").write_text("\n".join(tests))
    run = f"{sys.executable} -m pytest -q -x -p no:cacheprovider @covering.txt"
    # Of processor time, other programs take nothing away; a mutant that only waits uses none. The status tells a failure from the limit.
    script = f"ulimit -t {SECONDS}; {run}; status=$?; echo {len(tests)} tests, status $status; exit $status"
    return mutate_and_test([mutation], shlex.join(["sh", "-c", script]), 10 * SECONDS)


def _outcome(result: WorkResult) -> str:
    return "timed out" if re.search(r"^timeout$|status 152$", result.output, re.MULTILINE) else str(result.test_outcome.value)


def _report(done: list[tuple[MutationSpec, WorkResult]], report: Path, options: argparse.Namespace) -> int:
    """Write what survived, with the verdicts that the report gives already, and return the exit status."""
    verdicts = dict(_VERDICT.findall(report.read_text())) if report.exists() else {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    sections: dict[str, list[str]] = {"Timed out": [], "Survived": [], "Survived once, killed now": []}
    for mutation, result in sorted(done, key=lambda each: (str(each[0].module_path), each[0].start_pos)):
        outcome = _outcome(result)
        for row in (mutation.module_path.parts[0], "all"):
            counts[row][outcome] += 1
        diff = "\n".join(line for line in (result.diff or "").splitlines() if not re.match(r"---|\+\+\+|@@", line))
        if outcome != "killed" or diff in verdicts:
            title = f"### `{mutation.module_path}`, {mutation.definition_name or 'module'}"
            section = "Survived once, killed now" if outcome == "killed" else outcome.capitalize()
            sections[section].append(f"{title}\n\n```diff\n{diff}\n```\n\n{verdicts.get(diff, 'Not judged yet.')}\n")
    names = ("killed", "timed out", "survived")
    lines = [f"# Mutants\n\n`python -m tests.mutation --sample {options.sample} --seed {options.seed}` of the source {_source()}.\n"]
    lines += [f"| | mutants | {' | '.join(names)} |", "|---|---|---|---|---|"]
    order = sorted(counts, key=lambda name: (name == "all", name))
    lines += [f"| {name} | {counts[name].total()} | {' | '.join(str(counts[name][each]) for each in names)} |" for name in order]
    lines += [f"\n## {name}\n\n" + "\n".join(each).rstrip() for name, each in sections.items() if each]
    report.write_text("\n".join(lines) + "\n")
    sys.stdout.write(f"{counts['all']['killed']} of {len(done)} killed; see {report}\n")
    return 0 if counts["all"]["killed"] >= GOAL * len(done) else MISSED


if __name__ == "__main__":
    sys.exit(main())
