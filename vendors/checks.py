"""Checks of a deployment: uploaded files are not inspected as root."""

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register

from .sandbox.runner import ROOT_HINT, ROOT_REFUSED, refused_as_root


@register(Tags.security, deploy=True)
def files_are_not_inspected_as_root(**_kwargs: Any) -> list[CheckMessage]:
    """Return an error where this process would refuse to inspect uploaded files because it runs as root."""
    return [Error(ROOT_REFUSED, hint=ROOT_HINT, id="vendors.E001")] if refused_as_root() else []
