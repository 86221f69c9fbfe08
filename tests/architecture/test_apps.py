"""Every app has its migrations, every address of the API its access, every command its help."""

from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.urls import get_resolver

from marketplace.api.views import ApiViewSet

from .source import COMMANDS, PACKAGES, patterns

OWN_APPS = [config for config in apps.get_app_configs() if config.name.split(".")[0] in PACKAGES]
# Addresses under /api/v1 that are no operations: public by their own settings, and the same for everyone.
NO_OPERATIONS = {"schema": "the OpenAPI document", "docs": "the page that shows it"}


def test_app_with_models_has_a_migrations_package() -> None:
    with_models = [Path(config.path) for config in OWN_APPS if list(config.get_models())]
    assert with_models
    assert [path for path in with_models if not (path / "migrations" / "__init__.py").is_file()] == []


def test_every_address_of_the_api_is_an_operation_that_declares_access_and_ends_without_a_slash() -> None:
    addresses = [(path.removeprefix("api/v1/"), pattern) for path, pattern in patterns(get_resolver()) if path.startswith("api/")]
    assert addresses
    others = {path for path, pattern in addresses if not issubclass(getattr(pattern.callback, "cls", object), ApiViewSet)}
    assert others == set(NO_OPERATIONS)
    assert [path for path, _ in addresses if path.endswith("/")] == []


def test_every_command_has_a_help_text(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            call_command(name, "--help")
        assert ended.value.code == 0
        printed = capsys.readouterr().out
        assert "usage:" in printed
        # Its own sentence, beside the options that every command has.
        assert printed.split("\n\n")[1].strip().rstrip("."), name
