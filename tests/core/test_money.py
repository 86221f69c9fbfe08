from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marketplace.core import money


@pytest.mark.slow
@given(amount=st.integers(0, 10**10), rate=st.integers(0, 10_000))
@example(amount=1, rate=5_000)
@example(amount=5, rate=1_000)
@example(amount=50, rate=9_900)
@example(amount=10**10 - 1, rate=5_000)
def test_discount_rounds_half_up_exactly(amount: int, rate: int) -> None:
    exact = Decimal(amount) * (10_000 - rate) / 10_000
    assert money.discounted(amount, rate) == int(exact.to_integral_value(rounding="ROUND_HALF_UP"))


@given(gross=st.integers(0, 10**10), rate=st.integers(0, 10_000))
def test_tax_is_never_more_than_the_price(gross: int, rate: int) -> None:
    assert 0 <= money.included_tax(gross, rate) <= gross


def test_amount_with_three_decimals_is_refused() -> None:
    with pytest.raises(ValueError, match="two decimals"):
        money.to_minor(Decimal("1.005"))
