"""Commands one after the other in the environment of a service: in one process, because the start of each would take seconds."""

import shlex
from io import StringIO
from typing import Any

from django.core.management import CommandError, call_command

from marketplace.accounts.models import User
from marketplace.operations.models import Installation
from tests.faults.scene import state


def run(*lines: str) -> dict[str, Any]:
    """Run each line; return what each said, `FAILED` before the reason of one that failed, and what is there in the end."""
    said = []
    for line in lines:
        out = StringIO()
        try:
            call_command(*shlex.split(line), stdout=out, stderr=out)
        except CommandError as error:
            out.write(f"FAILED: {error}")
        said.append(out.getvalue())
    return {"said": said, "state": state()}


def reset_sandbox() -> None:
    """Reset a sandbox with somebody in it."""
    # The copied database was migrated for a marketplace.
    Installation.objects.update(sandbox=True)
    User.objects.create_superuser("old@example.com")
    call_command("sandbox_reset", yes=True, stdout=StringIO())
