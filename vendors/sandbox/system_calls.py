"""The system calls that Python and its libraries need to inspect a file, found by tracing them over the files of the tests."""

# Numbers on x86-64 and on arm64 (asm/unistd.h), None if there is no such call. Landlock restricts which files may be opened.
CALLS: dict[str, tuple[int, int | None]] = {
    # files
    "read": (0, 63),
    "write": (1, 64),
    "writev": (20, 66),
    "pread64": (17, 67),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "open": (2, None),
    "openat": (257, 56),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    # memory
    "brk": (12, 214),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    # processes
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "wait4": (61, 260),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "arch_prctl": (158, None),
    "sched_yield": (24, 124),
    # signals
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    # information about the process itself
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettimeofday": (96, 169),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "getrlimit": (97, 163),
    # with some arguments only
    "clone": (56, 220),
    "prlimit64": (302, 261),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
}
# Calls that are allowed with some values of one argument, by its place: prlimit64 of the calling process only, and no command of fcntl
# and ioctl by which a file sends signals to other processes. Those that are used: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL and
# F_DUPFD_CLOEXEC; TCGETS, FIONCLEX and FIOCLEX.
ALLOWED_ARGUMENTS: dict[str, tuple[int, tuple[int, ...]]] = {
    "prlimit64": (0, (0,)),
    "fcntl": (1, (0, 1, 2, 3, 4, 1030)),
    "ioctl": (1, (0x5401, 0x5450, 0x5451)),
}
# Flags with which clone is refused: other namespaces, and a child of the parent process.
REFUSED_CLONE_FLAGS = 0x7E028000
# clone3 takes its flags from memory, where a filter cannot look. The C library uses clone where it does not exist.
CLONE3 = 435
