"""Two hundred doubled, reordered, late and forged events at once; `python -m tests.wallet.long events` sends as many as one likes."""

import random

import pytest

from .faulty_events import FaultyEvents


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_concurrent_repeated_reordered_late_and_forged_events_credit_each_payment_once() -> None:
    sent = FaultyEvents(200, random.Random(20))
    sent.send_all(threads=8)
    assert list(sent.wrong()) == []
    assert {what for what, _, _ in sent.responses} == {"genuine", "forged", "ignored", "other amount"}
