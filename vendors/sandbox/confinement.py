"""Confines the child process, in case a hostile file takes it over.

It may read programs and libraries only, and write only to its own temporary folder (Landlock), and use only the system calls of
`system_calls` (seccomp).

Both are features of Linux, need no privilege, and are inherited by all that the child starts. Where a kernel lacks them, the limits of
memory and CPU time, the minimal environment and the parent's timeout remain.
"""

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .system_calls import ALLOWED_ARGUMENTS, CALLS, CLONE3, REFUSED_CLONE_FLAGS

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# An instruction of the filter: its code, the jumps if its comparison is true or false, and its value.
Instruction = tuple[int, int, int, int]
# The codes, the verdicts, and the offsets of what the filter reads (linux/seccomp.h).
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, KILL, NOT_PERMITTED, NOT_IMPLEMENTED = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
NUMBER_OFFSET, MACHINE_OFFSET, ARGUMENT_OFFSET = 0, 4, 16
SET_SECCOMP, SET_NO_NEW_PRIVILEGES, FILTER = 22, 38, 2

# Landlock (linux/landlock.h): its system calls, the rights to files, and the scopes that later versions added: TCP, and abstract sockets
# and signals.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
FOLDER_RIGHTS = 0x1FFF
# Rights that later Landlock versions added, by version: refer (move across directories), truncate, ioctl on devices.
LATER_RIGHTS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
TCP, ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3
# Where distributions put programs and libraries.
READABLE = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/opt", "/nix/store", "/gnu/store", "/dev/null", "/dev/urandom")

_libc = ctypes.CDLL(None, use_errno=True)


def confine() -> frozenset[str]:
    """Confine this process as far as the kernel supports it; return what is in force: `files` (Landlock), `calls` (seccomp)."""
    if not sys.platform.startswith("linux") or _libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return frozenset()
    in_force = {"files": _restrict_files(), "calls": _restrict_calls()}
    return frozenset(name for name, succeeded in in_force.items() if succeeded)


def _restrict_files() -> bool:
    version = _libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = FOLDER_RIGHTS | sum(bit for since, bit in LATER_RIGHTS.items() if version >= since)
    fields = (rights,) + ((TCP,) if version >= 4 else ()) + ((ABSTRACT_SOCKETS_AND_SIGNALS,) if version >= 6 else ())
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        # Only the code of the sandbox: the project's folder may contain keys and the SQLite database, so it must not lie in one of `READABLE`.
        ours = (Path(__file__).parent, sys.prefix, sys.base_prefix)
        allowed = [_allow(ruleset, path, EXECUTE | READ | LIST) for path in (*READABLE, *ours)]
        allowed.append(_allow(ruleset, tempfile.gettempdir(), rights & ~EXECUTE))
        return all(allowed) and not _libc.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str | Path, rights: int) -> bool:
    """Allow access to a path and everything below it. A path that does not exist is skipped; False means that the kernel refused."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        if not Path(path).is_dir():
            rights &= EXECUTE | WRITE | READ
            rights |= WRITE if str(path) == os.devnull else 0
        return not _libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _restrict_calls() -> bool:
    machine = platform.machine()
    if machine not in MACHINES:
        return False
    numbers = {name: arm64 if machine == "aarch64" else x86_64 for name, (x86_64, arm64) in CALLS.items()}
    program = [(LOAD, 0, 0, MACHINE_OFFSET), (EQUAL, 1, 0, MACHINES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER_OFFSET)]
    for name, number in numbers.items():
        if number is not None:
            verdict = _verdict(name)
            program += [(EQUAL, 0, len(verdict), number), *verdict]
    program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, NOT_IMPLEMENTED), (RETURN, 0, 0, NOT_PERMITTED)]
    return _install(program)


def _verdict(name: str) -> list[Instruction]:
    """Return the instructions that decide on a listed call; where an argument matters, they compare its lower half."""
    if name == "clone":
        return [(LOAD, 0, 0, ARGUMENT_OFFSET), (ANY_BIT, 0, 1, REFUSED_CLONE_FLAGS), (RETURN, 0, 0, NOT_PERMITTED), (RETURN, 0, 0, ALLOW)]
    if name not in ALLOWED_ARGUMENTS:
        return [(RETURN, 0, 0, ALLOW)]
    place, values = ALLOWED_ARGUMENTS[name]
    allowed = [step for value in values for step in ((EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW))]
    return [(LOAD, 0, 0, ARGUMENT_OFFSET + 8 * place), *allowed, (RETURN, 0, 0, NOT_PERMITTED)]


def _install(program: Iterable[Instruction]) -> bool:
    instructions = b"".join(struct.pack("=HBBI", *each) for each in program)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    header = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(buffer))
    return not _libc.prctl(SET_SECCOMP, FILTER, ctypes.create_string_buffer(header, len(header)), 0, 0)
