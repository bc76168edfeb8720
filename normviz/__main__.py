"""Run the command line: `python -m normviz` is the same as `normviz`."""

import sys

from normviz.cli.main import main

sys.exit(main())
