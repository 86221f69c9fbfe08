"""Waiting for another service without holding what other requests need."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

# Returns the context in which the present request waits; `marketplace.core.overload` sets it.
waiting: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("waiting", default=nullcontext)
