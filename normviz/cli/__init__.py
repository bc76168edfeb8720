"""The `normviz` command: arguments in, files and findings out.

`arguments` defines the options, `main` runs `show`, `view`, `check` and `demo`, and `profile` and
`align` run the commands of their names. Every error is printed in the words of the shell
(`messages`): its options, not Python's keywords.
"""

from normviz.cli.main import main

__all__ = ["main"]
