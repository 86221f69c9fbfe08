"""What a file that has taken over the child can still reach: nothing of ours."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFINED = """
import os, socket, subprocess, sys, tempfile
from vendors.sandbox import confinement
held = confinement.confine()
if held != {{"files", "calls"}}:
    sys.exit(77)
try:
    {code}
except (PermissionError, subprocess.SubprocessError):
    sys.exit(13)
except ConnectionRefusedError:
    sys.exit(2)
"""


def confined(code: str, folder: Path) -> int:
    """Run a line in a confined process; return 0 when it went well, 13 when it was not permitted."""
    command = [sys.executable, "-P", "-s", "-c", CONFINED.format(code=code)]
    env = {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    status = subprocess.run(command, cwd=folder, env=env, check=False, stderr=subprocess.DEVNULL).returncode
    if status == 77:
        pytest.skip("needs a Linux kernel with Landlock and seccomp")
    return status


@pytest.mark.parametrize(
    "code",
    [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "socket.create_connection(('127.0.0.1', 9))",
        "open('{root}/pyproject.toml')",
        "open('{root}/manage.py', 'a')",
        "os.listdir('{root}')",
        "os.listdir('/')",
        "open('/etc/passwd')",
        "open('/proc/{parent}/environ', 'rb')",
        "open('/tmp/outside-of-the-folder', 'w')",
        "os.kill({parent}, 0)",
        "os.setsid()",
        "os.setpgid(0, 0)",
        "os.symlink('/etc/passwd', '/tmp/outside-of-the-folder')",
        "subprocess.run(['/bin/sh', '-c', 'cat {root}/pyproject.toml'], check=True)",
        "subprocess.run([os.path.join(tempfile.gettempdir(), 'program')], check=True)",
    ],
)
def test_confined_process_reaches_nothing_of_ours(code: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert confined(code.format(root=ROOT, parent=os.getpid()), tmp_path) == 13


@pytest.mark.parametrize(
    "code", ["open(tempfile.gettempdir() + '/mine', 'w').write('x')", "subprocess.run(['/bin/true'], check=True)", "import decimal"]
)
def test_confined_process_can_do_its_work(code: str, tmp_path: Path) -> None:
    assert confined(code, tmp_path) == 0


def test_unconfined_process_could(tmp_path: Path) -> None:
    """The lines above fail for no other reason."""
    with socket.socket(), (ROOT / "pyproject.toml").open() as file:
        assert file.read(1)
    os.kill(os.getpid(), 0)
