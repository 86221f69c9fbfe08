"""Mutants of the money code, each of which the suite must kill.

    uv run --group dev python -m tests.wallet.mutants [name …]

Each is the source with one safeguard taken out, in a copy of the tree; the tests named beside it must then fail, and pass
without it. It runs on the database of `TEST_DATABASE_URL`, or on a private PostgreSQL.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.architecture.source import PACKAGES, ROOT
from tests.servers.postgres import postgres

SECONDS = 900
_COPIED = (*PACKAGES, "templates", "tests", "manage.py", "pyproject.toml")


@dataclass(frozen=True)
class Mutant:
    """A safeguard taken out.

    Args:
        name: What is missing.
        path: In which file.
        old: The text that goes; it is there once.
        new: What takes its place.
        tests: What must notice, for `pytest -k`.
    """

    name: str
    path: str
    old: str
    new: str
    tests: str


RACES = "tests/wallet/test_races.py"
SPENDING = "tests/wallet/test_spending.py"
MUTANTS = (
    Mutant(
        "no WHERE: the debit does not look at the balance",
        "wallet/statements.py",
        " AND balance_minor >= %(amount)s\nRETURNING",
        "\nRETURNING",
        f"{SPENDING}::test_balance_below_the_price_is_refused_and_told",
    ),
    Mutant(
        "no lock: the sums are taken before the wallet is ours",
        "wallet/services/spending.py",
        "    charged = _charge(order, offer) if offer.price_minor else None\n    if charged is not None:\n"
        "        keep_within_limits(buyer=buyer, offer=offer, principal=principal)\n",
        "    keep_within_limits(buyer=buyer, offer=offer, principal=principal)\n"
        "    charged = _charge(order, offer) if offer.price_minor else None\n",
        f"{RACES}::test_cap_is_reached_exactly_and_never_passed",
    ),
    Mutant(
        "no lock: a refund reads the order and does not lock it",
        "wallet/services/refunds.py",
        "order = lock(Order.objects.all(), pk=order.pk)",
        "order = Order.objects.get(pk=order.pk)",
        f"{RACES}::test_one_order_is_refunded_once",
    ),
    Mutant(
        "no unique: a second answer overwrites the first one's",
        "wallet/statements.py",
        "\n WHERE wallet_idempotencyrecord.created_at <= %s\n",
        "\n WHERE wallet_idempotencyrecord.created_at <= %s OR true\n",
        f"{RACES}::test_same_key_for_different_assets_makes_one_order",
    ),
    Mutant(
        "unscoped key: anyone's answer is everyone's",
        "wallet/services/idempotency.py",
        "filter(owner=request.owner, key=request.key,",
        "filter(key=request.key,",
        f"{SPENDING}::test_key_of_someone_else_is_not_looked_up",
    ),
    Mutant(
        "key without its input: another request gets this one's answer",
        "wallet/services/idempotency.py",
        "orjson.dumps([operation, given]",
        "orjson.dumps([operation]",
        f"{SPENDING}::test_key_with_another_body_is_refused",
    ),
    Mutant(
        "double rounding: the vendor's share is rounded by itself",
        "wallet/services/spending.py",
        '"vendor_share_minor": net - commission,',
        '"vendor_share_minor": money.share(net, 10_000 - offer.candidate.commission_rate_bp),',
        f"{SPENDING}::test_split_leaves_no_paisa_over",
    ),
    Mutant(
        "skipped leg: nobody gets the commission",
        "wallet/services/spending.py",
        '        Leg(wallet, accounts[AccountKind.COMMISSION], order["commission_minor"]),\n',
        "",
        f"{SPENDING}::test_price_is_split_into_tax_commission_and_the_vendors_share",
    ),
    Mutant(
        "skipped leg: a refund leaves the tax where it is",
        "wallet/services/refunds.py",
        "for transfer in transfers],",
        'for transfer in transfers if transfer.credit.kind != "tax"],',
        "tests/wallet/test_refunds.py::test_refund_mirrors_every_leg_and_takes_the_licence_back",
    ),
    Mutant(
        "no balance: a refund forgets the wallet",
        "wallet/services/refunds.py",
        "wallet = credit_wallet_balance(sale.wallet_id, order.price_minor)",
        "wallet = WalletEntry(sale.wallet_id, order.price_minor, order.price_minor, 3)",
        "tests/wallet/test_refunds.py::test_refund_mirrors_every_leg_and_takes_the_licence_back",
    ),
    Mutant(
        "unsorted locks: accounts are opened in any order",
        "wallet/services/ledger.py",
        "    for kind in _OPENING_ORDER:\n",
        "    for kind in sorted(_OPENING_ORDER, key=lambda _: random.random()):\n",
        f"{RACES}::test_first_sales_of_many_open_their_accounts_without_a_circle",
    ),
    Mutant(
        "unsorted locks: a refund takes the licence before the wallet",
        "wallet/services/refunds.py",
        "    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()\n",
        "    revoke_licence(order_id=order.id, reason=reason, actor=actor)\n"
        "    undo_purchase(listing_id=order.listing_id)\n"
        "    sale = Journal.objects.filter(order=order, kind=JournalKind.SALE).first()\n",
        f"{RACES}::test_refunds_and_purchases_of_one_asset_take_its_rows_in_one_order",
    ),
    Mutant(
        "no transaction: what was done before a refusal stays",
        "wallet/services/spending.py",
        "        with transaction.atomic(), bounded_wait(request):\n",
        "        with bounded_wait(request):\n",
        "tests/wallet/test_faults.py::test_cut_at_any_statement_leaves_nothing_half_done",
    ),
    Mutant(
        "quote without an end",
        "wallet/services/quotes.py",
        "    if quote.expires_at <= timezone.now():\n        raise QuoteExpired\n",
        "",
        "tests/wallet/test_quotes.py::test_expired_quote_is_refused",
    ),
    Mutant(
        "quote of anyone",
        "wallet/services/quotes.py",
        '.annotate(order_id=F("orders__pk")).filter(owner=buyer)',
        '.annotate(order_id=F("orders__pk"))',
        "tests/wallet/test_quotes.py::test_quote_of_someone_else_is_not_found",
    ),
    Mutant(
        "refunded orders count on: caps shrink",
        "wallet/statements.py",
        " AND currency = %(currency)s AND status = 'Completed'\n",
        " AND currency = %(currency)s\n",
        "tests/wallet/test_spending_limits.py::test_refund_gives_back_what_it_took_from_the_caps",
    ),
)


def killed(mutant: Mutant | None, tests: str, database: str) -> bool:
    """Tell whether the tests fail with the mutant in the source, or without any."""
    with tempfile.TemporaryDirectory(prefix="marketplace-mutant-") as folder:
        for name in _COPIED:
            source, copy = ROOT / name, Path(folder) / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
        if mutant is not None:
            mutate(mutant, Path(folder))
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--reuse-db", *tests.split()],
            cwd=folder,
            env=os.environ | {"TEST_DATABASE_URL": database, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    # 1: tests failed, perhaps by the reconciliation after them. Anything else, such as a mutant that does not load, proves nothing.
    if result.returncode not in (0, 1):
        raise RuntimeError(result.stdout[-3000:])
    return result.returncode == 1


def mutate(mutant: Mutant, folder: Path) -> None:
    """Take the safeguard out of the copy."""
    path = folder / mutant.path
    text = path.read_text()
    if text.count(mutant.old) != 1:
        message = f"{mutant.name}: its text is there {text.count(mutant.old)} times in {mutant.path}"
        raise ValueError(message)
    text = text.replace(mutant.old, mutant.new)
    # Some mutants throw dice.
    path.write_text(text.replace('"""\n\nimport ', '"""\n\nimport random\nimport ', 1) if "random." in mutant.new else text)


def main() -> int:
    """Run the mutants; return 0 when all were killed and the untouched source passes."""
    parser = argparse.ArgumentParser(prog="python -m tests.wallet.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="run those whose name contains one of these words; all when left out")
    words = parser.parse_args().names
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]
    table = Table("mutant", "file", "outcome")
    survivors = 0
    with contextlib.ExitStack() as servers:
        database = os.environ.get("TEST_DATABASE_URL") or servers.enter_context(postgres())
        every_test = " ".join(sorted({mutant.tests for mutant in chosen}))
        if killed(None, every_test, database):
            Console().print("The tests fail without any mutant.")
            return 1
        for mutant in chosen:
            dead = killed(mutant, mutant.tests, database)
            survivors += not dead
            table.add_row(mutant.name, mutant.path, "killed" if dead else "SURVIVED")
    Console(width=140).print(table)
    Console().print(f"{len(chosen) - survivors} of {len(chosen)} killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
