"""Inspects each uploaded file in a child process of its own, without Django, secrets or network.

Where the kernel supports it, the confinement is enforced by Landlock and seccomp (`confinement`).

`runner` and `replies` are the parent's side; every other module runs in the child and must not import Django.
"""
