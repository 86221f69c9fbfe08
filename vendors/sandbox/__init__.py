"""What looks into uploaded files: a child process of its own for each, without Django, secrets or network.

Where the kernel can, it is held to that (`confinement`).

`runner` and `replies` are the parent's side; every other module runs in the child and must not import Django.
"""
