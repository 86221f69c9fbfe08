"""What a file that has taken over the child can still reach: nothing of ours."""

import ctypes
import errno
import json
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from marketplace.core.errors import DependencyUnavailable, UnsupportedType
from tests import ROOT
from vendors.sandbox import runner
from vendors.sandbox.confinement import MACHINES
from vendors.sandbox.runner import Limits, reader_of_bytes, run_in_sandbox
from vendors.sandbox.system_calls import ALLOWED_ARGUMENTS, CALLS, CLONE3

# Tries each line, and says which were refused, and how.
CONFINED = """
import ctypes, errno, fcntl, json, os, resource, socket, subprocess, sys, tempfile, threading
from vendors.sandbox import confinement
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *values):
    if libc.syscall(number, *map(ctypes.c_long, values)) < 0:
        raise OSError(ctypes.get_errno(), "refused")
here = open(os.devnull)
lines = json.loads(sys.argv[1])
if confinement.confine() != {"files", "calls"}:
    sys.exit(77)
refused = {}
for line in lines:
    try:
        exec(line)
    except subprocess.SubprocessError:
        refused[line] = errno.EPERM
    except OSError as error:
        refused[line] = errno.EPERM if isinstance(error, PermissionError) else error.errno
os.write(1, json.dumps(refused).encode())
"""
FORBIDDEN = """
    socket.socket()
    socket.socket(socket.AF_UNIX)
    socket.create_connection(('127.0.0.1', 9))
    open('{root}/pyproject.toml')
    open('{root}/manage.py', 'a')
    os.listdir('{root}')
    os.listdir('/')
    open('/etc/passwd')
    open('/proc/{parent}/environ', 'rb')
    open('/tmp/outside-of-the-folder', 'w')
    os.kill({parent}, 0)
    os.setsid()
    os.setpgid(0, 0)
    os.symlink('/etc/passwd', '/tmp/outside-of-the-folder')
    subprocess.run(['/bin/sh', '-c', 'cat {root}/pyproject.toml'], check=True)
    subprocess.run([os.path.join(tempfile.gettempdir(), 'program')], check=True)
    resource.prlimit({parent}, resource.RLIMIT_CPU)
    resource.prlimit({parent}, resource.RLIMIT_NOFILE, (0, 0))
    os.sched_setaffinity({parent}, [0])
    os.sched_getaffinity({parent})
    os.setpriority(os.PRIO_PROCESS, {parent}, 5)
    os.sched_setscheduler({parent}, os.SCHED_BATCH, os.sched_param(0))
    fcntl.fcntl(here, fcntl.F_SETOWN, {parent})
    fcntl.ioctl(here, 0x8901, ({parent}).to_bytes(4, 'little'))
"""
# Calls that no parser needs, of each kind: they are refused whatever they are called with.
FORBIDDEN_CALLS = """
    socket socketpair connect bind listen accept4 sendto sendmsg
    kill tkill tgkill ptrace process_vm_readv process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal kcmp setsid setpgid
    sched_setaffinity sched_getaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set
    shmget shmat shmctl semget semop semctl msgget msgsnd msgctl mq_open
    mount umount2 pivot_root chroot unshare setns bpf perf_event_open userfaultfd io_uring_setup keyctl add_key request_key init_module
    personality prctl seccomp syslog reboot kexec_load swapon quotactl acct settimeofday clock_settime adjtimex sethostname
    setuid setgid setresuid setgroups capset memfd_create execveat name_to_handle_at open_by_handle_at fanotify_init inotify_init1
    mknodat symlinkat linkat renameat2 fchmodat fchownat utimensat setxattr truncate fallocate sync
"""
# Flags of a child in another namespace, and of one with another parent.
FLAGS = (0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x00008000)
NEEDED = """
    open(tempfile.gettempdir() + '/mine', 'w').write('x')
    subprocess.run(['/bin/true'], check=True)
    import decimal
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    threading.Thread(target=int).start()
"""


def lines_of(text: str, **given: object) -> list[str]:
    return [line.strip() for line in text.format(**given).strip().splitlines()]


@pytest.fixture(scope="module")
def numbers() -> Any:
    """The numbers of system calls that libseccomp knows."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("needs the Debian package libseccomp2")
    return lambda machine, name: library.seccomp_syscall_resolve_name_arch(MACHINES[machine], name.encode())


def refused_of(lines: list[str], folder: Path) -> dict[str, int]:
    """Run lines in one confined process; return the error of each that was not permitted."""
    command = [sys.executable, "-P", "-s", "-c", CONFINED, json.dumps(lines)]
    env = {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True)
    if done.returncode == 77:
        pytest.skip("needs a Linux kernel with Landlock and seccomp")
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_confined_process_cannot_access_files_network_or_other_processes(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    lines = lines_of(FORBIDDEN, root=ROOT, parent=os.getpid())
    assert refused_of(lines, tmp_path) == dict.fromkeys(lines, errno.EPERM)


def test_system_call_that_no_parser_needs_is_refused(numbers: Any, tmp_path: Path) -> None:
    asked = {name: numbers(platform.machine(), name) for name in FORBIDDEN_CALLS.split()}
    assert min(asked.values()) >= 0
    clone = numbers(platform.machine(), "clone")
    lines = [f"call({number}, 0, 0, 0, 0, 0)  # {name}" for name, number in asked.items()]
    lines += [f"call({clone}, {flag} | 17, 0, 0, 0, 0)" for flag in FLAGS]
    assert refused_of(lines, tmp_path) == dict.fromkeys(lines, errno.EPERM)


def test_confined_process_can_parse_files_and_is_told_that_clone3_is_not_there(tmp_path: Path) -> None:
    clone3 = f"call({CLONE3}, 0, 0)"
    assert refused_of([*lines_of(NEEDED), clone3], tmp_path) == {clone3: errno.ENOSYS}


def test_actions_refused_to_a_confined_process_succeed_without_confinement(tmp_path: Path) -> None:
    """The lines above fail for no other reason."""
    with socket.socket(), (ROOT / "pyproject.toml").open() as file:
        assert file.read(1)
    os.kill(os.getpid(), 0)
    os.sched_setaffinity(os.getppid(), os.sched_getaffinity(os.getppid()))


def test_allowed_system_calls_have_the_numbers_of_both_architectures(numbers: Any) -> None:
    """The source is libseccomp, which gives calls that a machine does not have a negative number."""
    for name, pair in CALLS.items():
        known = tuple(number if number >= 0 else None for number in (numbers("x86_64", name), numbers("aarch64", name)))
        assert (name, pair) == (name, known)
    assert {numbers(machine, "clone3") for machine in MACHINES} == {CLONE3}
    assert ALLOWED_ARGUMENTS.keys() <= CALLS.keys()


def test_child_knows_nothing_of_our_environment_and_is_confined_before_it_reads_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused_of([], tmp_path)
    children: list[subprocess.Popen[bytes]] = []
    seen: list[str] = []
    start = runner._start

    def starting(*given: Any) -> Any:
        children.append(start(*given))
        return children[-1]

    def look(_offset: int, length: int) -> bytes:
        told = Path(f"/proc/{children[0].pid}/environ").read_text().rstrip("\0").split("\0")
        assert {each.partition("=")[0] for each in told} <= {
            "PYTHONPATH",
            "PYTHONDONTWRITEBYTECODE",
            "TMPDIR",
            "LANG",
            "OPENBLAS_NUM_THREADS",
        }
        seen.append(Path(f"/proc/{children[0].pid}/status").read_text())
        return b"x" * length

    monkeypatch.setattr(runner, "_start", starting)
    with pytest.raises(UnsupportedType):
        run_in_sandbox("inspect", read_at=look, size=1000, limits=Limits(5, 60), interpret=lambda facts, _: facts)
    assert {"Seccomp:\t2" in each for each in seen} == {True}


def test_inspection_as_root_is_refused_in_production(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.INSPECT_AS_ROOT = False
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(DependencyUnavailable):
        run_in_sandbox("inspect", read_at=reader_of_bytes(b"x"), size=1, limits=Limits(5, 5), interpret=lambda facts, _: facts)
    assert "INSPECT_AS_ROOT" in caplog.text
    assert "vendors.E001" in [message.id for message in run_checks(tags=["security"], include_deployment_checks=True)]


@pytest.mark.parametrize(("user", "given"), [(0, {"INSPECT_AS_ROOT": True}), (1000, {"INSPECT_AS_ROOT": False})])
def test_inspection_as_another_user_or_as_allowed_root_works(
    user: int, given: dict[str, bool], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.INSPECT_AS_ROOT = given["INSPECT_AS_ROOT"]
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert "vendors.E001" not in [message.id for message in run_checks(tags=["security"], include_deployment_checks=True)]
