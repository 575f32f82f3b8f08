"""``python3 -m ohash``: the command line."""

import sys

from ohash.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
