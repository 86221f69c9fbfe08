"""People around developer access."""

import pytest

from developers.models import DeveloperApplication
from developers.services.applications import approve_application, submit_application
from marketplace.accounts.models import User
from tests.factories import UserFactory


@pytest.fixture
def reviewer(db: None) -> User:
    """A superuser who decides."""
    return UserFactory(is_staff=True, is_superuser=True)


@pytest.fixture
def application(db: None) -> DeveloperApplication:
    """An application that waits."""
    user = UserFactory()
    return submit_application(user=user, what="A font picker", why="It reads the catalog", actor=user)


@pytest.fixture
def developer(application: DeveloperApplication, reviewer: User) -> User:
    """A verified developer."""
    return approve_application(application=application, reason="Makes sense", actor=reviewer).user
