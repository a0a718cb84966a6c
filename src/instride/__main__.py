"""`python -m instride`: the same as the `instride` command."""

from __future__ import annotations

import sys

from instride.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
