"""`python -m normviz` does what `normviz` does."""

import sys

from normviz.cli import main

sys.exit(main())
