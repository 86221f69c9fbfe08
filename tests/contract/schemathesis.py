"""Generated requests as in the suite, different ones in each run and any number of them.

    uv run --group dev python -m tests.contract.schemathesis --examples 200

Each operation is called with each kind of credential, on a database of its own. A failure shows the request as a curl command.
Sent are all operations of the document, uploads and signed links too. Not the OAuth endpoints: they answer forms and redirects by
their own standards, are in no OpenAPI document, and have tests against a client library (tests/developers/oauth).
"""

import os
import subprocess
import sys

from tests import ROOT, command_line


def main() -> int:
    """Run the suite's test with more examples; return pytest's status."""
    parser = command_line("tests.contract.schemathesis", __doc__)
    parser.add_argument("--examples", type=int, default=100, help="requests for each operation and credential (default 100)")
    parser.add_argument("--only", default="", help="words that pytest's -k takes, such as 'spend or quote'")
    options = parser.parse_args()
    command = [sys.executable, "-m", "pytest", "tests/contract/test_generated.py", "--quiet", "--numprocesses=auto"]
    command += ["-k", options.only] if options.only else []
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"GENERATED_EXAMPLES": str(options.examples)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
