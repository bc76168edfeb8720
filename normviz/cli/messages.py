"""Error messages in the words of the shell: its options, not Python's keywords."""

import argparse
import re
from collections.abc import Mapping

from normviz.errors import NormvizError

_VALUE = r"""…|"[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|[\w.-]*\w"""
_KEYWORD = re.compile(rf"\b([a-z_]+)=({_VALUE})")
_PUNCTUATION = re.compile(r"[^\w\s.…-]")
_ALTERNATIVE = re.compile(r",? or (?:(?!,? or )[^;])*$")
_PYTHON_CALL = re.compile(r"\bnormviz\.\w+\(")


def option_names(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the options of a command by the Python name of their values."""
    return {
        action.dest: action.option_strings[-1]
        for action in parser._actions  # noqa: SLF001 - argparse has no public list of them
        if action.option_strings
    }


def shell_message(error: NormvizError, options: Mapping[str, str]) -> str:
    """Return the message of an error with the shell's options in place of Python's keywords.

    `max_tokens="model"` becomes `--max-tokens model`. Advice that the shell has no option for is
    left out if it is the last alternative of its sentence.
    """
    sentences = (error.found, error.expected, error.do)
    return " ".join(_translate(sentence, options) for sentence in sentences)


def _translate(sentence: str, options: Mapping[str, str]) -> str:
    while (last := _ALTERNATIVE.search(sentence)) and _is_python_only(last[0], options):
        sentence = f"{sentence[: last.start()]}."
    sentence = _KEYWORD.sub(lambda match: _option(match, options), sentence)
    for name, option in options.items():
        if "_" in name:
            sentence = re.sub(rf"\b{name}\b", option, sentence)
        sentence = re.sub(rf"^{name} is ", f"{option} is ", sentence)
    return sentence


def _option(match: re.Match[str], options: Mapping[str, str]) -> str:
    if match[1] not in options:
        return match[0]
    return f"{options[match[1]]} {_PUNCTUATION.sub('', match[2])}"


def _is_python_only(text: str, options: Mapping[str, str]) -> bool:
    """Return whether a text gives advice that only a Python program can follow."""
    keywords = [match[1] for match in _KEYWORD.finditer(text)]
    return bool(_PYTHON_CALL.search(text)) or any(name not in options for name in keywords)
