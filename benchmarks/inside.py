"""`python -m benchmarks.inside MODULE [ARGUMENT …]`: sets up Django with the settings of the environment, then calls that module's `main`.

Modules that import models can be imported only once Django is set up.
"""

import importlib
import sys

import django

if __name__ == "__main__":
    django.setup()
    importlib.import_module(sys.argv[1]).main(*sys.argv[2:])
