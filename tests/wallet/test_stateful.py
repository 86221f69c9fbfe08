"""Ten thousand random operations on wallets against a model, an eighth of them in the quick run; `python -m tests.wallet.long lives` runs as many as one likes."""

from itertools import count

import pytest
from hypothesis import seed
from hypothesis.stateful import run_state_machine_as_test

from .lives import LIVES, Wallets
from .model import OPEN_QUOTES

pytestmark = pytest.mark.database

PARTS = 8
OPERATIONS = 10_000


@pytest.mark.django_db
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.full) for part in range(1, PARTS))])
def test_random_lives_of_wallets_agree_with_the_model(part: int) -> None:
    enough = Wallets.outcomes.total() + OPERATIONS // PARTS
    for number in count():
        if Wallets.outcomes.total() >= enough:
            break
        # The same lives in every run of the suite, and others in each part and each round.
        run_state_machine_as_test(seed(part * OPERATIONS + number)(Wallets), settings=LIVES)
    assert Wallets.outcomes["buy done"] > 0
    assert Wallets.outcomes["buy as approved done"] > 0


@pytest.mark.django_db
def test_life_of_nothing_but_quotes_agrees_with_the_model() -> None:
    life = Wallets()
    try:
        for _ in range(OPEN_QUOTES + 1):
            life.quote(buyer=0, listing=0, tier="personal", currency="USD")
        life.quote(buyer=1, listing=0, tier="personal", currency="USD")
        life.wait(minutes=11)
        life.quote(buyer=0, listing=0, tier="personal", currency="USD")
        life.wait(minutes=25 * 60)
        life.quote(buyer=0, listing=0, tier="personal", currency="USD")
    finally:
        life.teardown()
    assert list(life.expected.quotes.values())[-1].buyer == 0
    assert Wallets.outcomes["quote too_many_quotes"] > 0
