"""Functions short enough to see whole, modules short enough to read, services that are called by keyword."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from operator import attrgetter

from developers.errors import ScopeNotAvailable
from marketplace.core.errors import InvalidTransition, Problem, all_problems
from wallet.errors import QuoteUsed

from .source import Module, functions, modules

FUNCTION_LINES = 50
MODULE_LINES = 350
# Functions that are longer, each with the reason.
LONG_FUNCTIONS: dict[str, str] = {}
LONG_MODULES = {"marketplace/web/cli/cam.py": "users fetch and run it as one file"}
# Problems that are made with some of the members that their docstrings name.
SOMETIMES = {InvalidTransition, QuoteUsed, ScopeNotAvailable}
READING = ("find_",)
# What other rooms call with one plain object: it reads, refuses or tells, and there is nothing to confuse.
PLAIN = {
    "catalog listing_edited": "tells the catalog of a change that was made",
    "catalog store_visibility_changed": "tells the catalog of a change that was made",
    "catalog store_edited": "tells the catalog of a change that was made",
    "catalog lock_listing": "locks a row and reads it",
    "catalog lock_own_listing": "locks a row and reads it",
    "catalog require_etag": "refuses, or does nothing",
    "catalog check_category": "refuses, or does nothing",
    "catalog check_reason": "refuses, or does nothing",
    "catalog check_synonym": "refuses, or does nothing",
    "catalog check_terms": "refuses, or does nothing",
    "catalog check_tier": "refuses, or does nothing",
    "vendors value_hash": "reads",
    "catalog rebuild": "takes whom to tell of its progress",
    "library readme_of": "reads",
    "library entry_name": "reads",
    "catalog snapshot_of": "reads",
    "vendors ensure_editable": "refuses, or does nothing",
    "vendors ensure_uploadable": "refuses, or does nothing",
    "vendors run_checks": "reads",
    "vendors run_submit_checks": "reads",
    "vendors value_hashes": "reads",
    "library url_of": "reads",
    "library package_parts": "reads",
}


def imported_services(module: Module) -> Iterator[str]:
    """Yield `package name` of each service that a module outside of those services imports, or calls on a module it imports."""
    if "services" not in module.text:
        return
    tree = module.tree
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or "services" not in (node.module or "").split("."):
            continue
        package = (node.module or "").split(".")[0] if node.level == 0 else module.package
        if module.of_services and module.package == package:
            continue
        names = {alias.asname or alias.name for alias in node.names}
        yield from (f"{package} {alias.name}" for alias in node.names)
        yield from (
            f"{package} {use.attr}"
            for use in ast.walk(tree)
            if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id in names
        )


@cache
def services() -> dict[str, ast.FunctionDef]:
    """Return each public function of the services by `package name`."""
    return {
        f"{module.package} {node.name}": node
        for module in modules()
        if module.of_services
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def positional(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def test_no_function_is_longer_than_a_screen_and_no_module_too_long_to_read() -> None:
    long = {
        f"{module.path}:{node.name}"
        for module in modules()
        for node in functions(module.tree)
        if (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION_LINES
    }
    assert long == set(LONG_FUNCTIONS)
    assert {str(module.path) for module in modules() if module.text.count("\n") > MODULE_LINES} == set(LONG_MODULES)


def test_services_that_others_call_take_everything_by_keyword() -> None:
    called = {name for module in modules() for name in imported_services(module)}
    plain = {
        name for name, function in services().items() if positional(function) and name in called and not name.split()[1].startswith(READING)
    }
    assert plain == set(PLAIN)


def test_no_service_takes_a_request() -> None:
    """Services serve pages, API, admin and commands alike; only uploads stream from a request."""
    with_request = {
        name
        for name, function in services().items()
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if argument.annotation is not None
        and "Request" in ast.unparse(argument.annotation)
        and argument.arg not in {"purchase", "wanted", "refund_request"}
        and "KeyedRequest" not in ast.unparse(argument)
    }
    assert with_request == set()


def test_services_that_change_something_say_who_did() -> None:
    """What is called by keyword from elsewhere and begins with a verb of decision names its actor."""
    verbs = ("approve_", "reject_", "suspend_", "reinstate_", "withdraw_", "takedown_", "block_", "create_", "revoke_", "credit_wallet")
    deciding = {name: function for name, function in services().items() if name.split()[1].startswith(verbs) and not positional(function)}
    assert deciding
    # The licence follows the refund, which names its actor, or the dispute, which a bank opens.
    following = {"library revoke_licence", "library suspend_licences", "library reinstate_licences", "wallet suspend_purchases"}
    nameless = {name for name, function in deciding.items() if "actor" not in [argument.arg for argument in function.args.kwonlyargs]}
    assert nameless <= following


def test_services_that_name_an_actor_or_lock_a_row_change_all_or_nothing() -> None:
    """A test of one runs in a transaction anyway, and misses none."""
    public = {name.split()[1]: function for name, function in services().items()}

    def atomic(function: ast.FunctionDef, known: dict[str, ast.FunctionDef]) -> bool:
        """Tell whether it opens a transaction, or changes nothing itself and calls what does."""
        text = ast.unparse(function)
        called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & known.keys() - {function.name}
        changes = any(call in text for call in ("audit.record(", "audit.save_and_record(", "lock(", ".save(", ".update(", ".create("))
        return "transaction.atomic" in text or (not changes and any(atomic(known[name], known) for name in called))

    outside = set()
    for module in filter(attrgetter("of_services"), modules()):
        own = {node.name: node for node in module.tree.body if isinstance(node, ast.FunctionDef)}
        acting = {name for name, node in own.items() if name in public and "actor" in [each.arg for each in node.args.kwonlyargs]}
        acting |= {name for name, node in own.items() if name in public and not name.startswith("lock_") and "lock(" in ast.unparse(node)}
        outside |= {name for name in acting if not atomic(own[name], public | own)}
    # Their callers have opened the transaction; `connect` defines what an appeal calls in its own.
    within = {"write_redirect_uris", "revoke_licence", "write_journal", "set_aside", "collect_owed", "complete_approval", "connect"}
    assert outside == within


def problems_made(tree: ast.AST) -> Iterator[tuple[type[Problem], set[str | None]]]:
    """Yield each problem that is raised or made, with the names of its arguments; None stands for `**`."""
    problems = {problem.__name__: problem for problem in all_problems().values()}
    for node in ast.walk(tree):
        made = node if isinstance(node, ast.Call) else node.exc if isinstance(node, ast.Raise) else None
        name = made.func if isinstance(made, ast.Call) else made
        if isinstance(name, ast.Name) and name.id in problems:
            yield problems[name.id], {keyword.arg for keyword in made.keywords} if isinstance(made, ast.Call) else set()


def test_each_problem_has_the_members_that_its_docstring_names() -> None:
    wrong = []
    for module in modules():
        for problem, given in problems_made(module.tree):
            named = set(re.findall(r"`([a-z]\w+)`", str(problem.__doc__)))
            members = {name for name in given if name not in {"headers", None}}
            if not (members <= named and (members == named or None in given or problem in SOMETIMES)):
                wrong.append((str(module.path), problem.code, sorted(members ^ named)))
    assert wrong == []
