import pytest


@pytest.fixture(autouse=True)
def _jobs_wait(jobs_wait: None) -> None:
    """Let a worker do jobs here, as in the service."""
