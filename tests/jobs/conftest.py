import pytest

from tests.eager import EagerBackend


@pytest.fixture(autouse=True)
def _nothing_is_eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait for a worker here, as they do in the service."""
    monkeypatch.setattr(EagerBackend, "on", False)
