"""Ten thousand random operations on wallets against a model; `python -m tests.wallet.long lives` runs as many as one likes."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from .lives import Wallets

PARTS = 8
OPERATIONS = 10_000
LIVES = settings(
    max_examples=10,
    stateful_step_count=100,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    # A failing life is told as it was: to make it shorter takes minutes.
    phases=[Phase.generate],
)


@pytest.mark.django_db
@pytest.mark.parametrize("part", range(PARTS))
def test_random_lives_of_wallets_agree_with_the_model(part: int) -> None:
    enough = Wallets.outcomes.total() + OPERATIONS // PARTS
    while Wallets.outcomes.total() < enough:
        run_state_machine_as_test(Wallets, settings=LIVES)
    assert Wallets.outcomes["buy done"] > 0
