"""Browsers of staff."""

import pytest
from django.test import Client

from marketplace.accounts.models import User
from tests.callers import signed_in

from .pages import staff


@pytest.fixture
def root(reviewer: User) -> Client:
    """The browser of a superuser."""
    return signed_in(reviewer)


@pytest.fixture
def editor(db: None) -> User:
    """Someone who reviews listings."""
    return staff("catalog.review_listing")


@pytest.fixture
def browser(editor: User) -> Client:
    return signed_in(editor)
