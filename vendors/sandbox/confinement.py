"""Confines the child process, in case a hostile file takes it over: no access to files (Landlock), network or other processes (seccomp).

Both are features of Linux, need no privilege, and are inherited by all that the child starts. Where a kernel lacks them, the limits of
memory and CPU time, the empty environment and the parent's timeout remain.
"""

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

# Numbers of the system calls that no parser needs, on x86-64 and on arm64 (asm/unistd.h).
REFUSED = {
    "x86_64": {
        "network": (41, 42, 43, 49, 50, 53, 288),
        "other processes": (62, 101, 109, 112, 129, 200, 297, 310, 311, 424, 434, 438),
        "kernel": (165, 166, 246, 248, 249, 250, 272, 298, 308, 313, 321, 323, 425, 426, 427),
    },
    "aarch64": {
        "network": (198, 199, 200, 201, 202, 203, 242),
        "other processes": (129, 117, 154, 157, 138, 130, 240, 270, 271, 424, 434, 438),
        "kernel": (40, 39, 104, 217, 218, 219, 97, 241, 268, 273, 280, 282, 425, 426, 427),
    },
}
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# System calls of the x32 ABI, which x86-64 kernels may support besides, have this bit set.
X32 = 0x40000000
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, KILL, NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050001
SET_SECCOMP, SET_NO_NEW_PRIVILEGES, FILTER = 22, 38, 2

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
    held = {"files": _restrict_files(), "calls": _refuse_calls()}
    return frozenset(name for name, holds in held.items() if holds)


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
        # Only the code of the sandbox, not the project's folder: it may contain keys and the SQLite database.
        ours = (Path(__file__).parent, sys.prefix, sys.base_prefix)
        allowed = [_allow(ruleset, path, EXECUTE | READ | LIST) for path in (*READABLE, *ours)]
        allowed.append(_allow(ruleset, tempfile.gettempdir(), rights & ~EXECUTE))
        return all(allowed) and not _libc.syscall(RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str | Path, rights: int) -> bool:
    """Allow access to a path and everything below it. A path that does not exist is skipped; False means that the kernel refused."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        if not Path(path).is_dir():
            rights &= EXECUTE | WRITE | READ
            rights |= WRITE if str(path) == os.devnull else 0
        return not _libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _refuse_calls() -> bool:
    machine = platform.machine()
    if machine not in REFUSED:
        return False
    numbers = [number for group in REFUSED[machine].values() for number in group]
    # A BPF jump is the number of instructions to skip. The last instruction but one allows the call, the last one refuses it.
    program = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    program.append((AT_LEAST, len(numbers) + 1, 0, X32))
    program += [(EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    program += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, NOT_PERMITTED)]
    return _install(program)


def _install(program: Iterable[tuple[int, int, int, int]]) -> bool:
    instructions = b"".join(struct.pack("=HBBI", *each) for each in program)
    held = ctypes.create_string_buffer(instructions, len(instructions))
    head = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(held))
    return not _libc.prctl(SET_SECCOMP, FILTER, ctypes.create_string_buffer(head, len(head)), 0, 0)
