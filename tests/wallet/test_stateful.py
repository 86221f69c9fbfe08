"""Random operations on wallets against a model, three histories of eleven in the quick run; `python -m tests.wallet.long histories` runs as many as one likes."""

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test

from .stateful.base import make_world
from .stateful.machine import HISTORIES, Wallets
from .stateful.model import OPEN_QUOTES

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _world(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wallets, "world", make_world(), raising=False)


# The longer half on SQLite only: of a history, the database decides nothing but whether its statements run.
@pytest.mark.parametrize("histories", [pytest.param(3, marks=pytest.mark.database), pytest.param(8, marks=pytest.mark.full)])
def test_random_histories_of_wallets_agree_with_the_model(histories: int) -> None:
    # The same histories in every run of the suite, of 250 operations each.
    run_state_machine_as_test(seed(histories)(Wallets), settings=settings(HISTORIES, max_examples=histories))
    assert Wallets.outcomes["buy done"] > 0
    assert Wallets.outcomes["buy as approved done"] > 0


def test_history_of_quotes_alone_agrees_with_the_model() -> None:
    history = Wallets()
    try:
        for _ in range(OPEN_QUOTES + 1):
            history.quote(buyer=0, listing=0, tier="personal", currency="USD")
        history.quote(buyer=1, listing=0, tier="personal", currency="USD")
        history.wait(minutes=11)
        history.quote(buyer=0, listing=0, tier="personal", currency="USD")
        history.wait(minutes=25 * 60)
        history.quote(buyer=0, listing=0, tier="personal", currency="USD")
    finally:
        history.teardown()
    assert list(history.expected.quotes.values())[-1].buyer == 0
    assert Wallets.outcomes["quote too_many_quotes"] > 0
