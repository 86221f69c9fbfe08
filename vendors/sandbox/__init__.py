"""What looks into uploaded files: a child process of its own for each, without Django, secrets or network.

`runner` and `replies` are the parent's side; every other module runs in the child and must not import Django.
"""
