"""`python -m benchmarks.inside MODULE [WORD …]`: sets Django up by the environment's settings, then calls that module's `main`.

What measures inside of the service imports its models, which can be imported only then.
"""

import importlib
import sys

import django

if __name__ == "__main__":
    django.setup()
    importlib.import_module(sys.argv[1]).main(*sys.argv[2:])
