"""`python -m normviz` does what `normviz` does."""

import sys

from normviz.cli.main import main

sys.exit(main())
