"""Servers that are down."""

from typing import Any, NoReturn

from django.core.cache.backends.base import BaseCache


class CacheDown(BaseCache):
    """Raises, as a client of an unreachable server does."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def add(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        """Raise."""
        raise ConnectionRefusedError

    def clear(self) -> None:
        """Hold nothing."""


class CacheForgets(CacheDown):
    """Answers, and counts nothing."""

    def add(self, *_args: Any, **_kwargs: Any) -> bool:  # type: ignore[override]  # the other one never answers
        """Claim that there is an entry."""
        return False

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> NoReturn:
        """Deny it."""
        raise ValueError(key)
