"""Values of plain YAML scalars as Kubernetes tools read them.

They read YAML 1.1 with their own choice of its rules: `yes` and `on` are booleans, a date stays a string,
`1:30` is no number, `1e3` is one.

Source: sigs.k8s.io/yaml ``goyaml.v2/resolve.go`` and its conversion to JSON in ``yaml.go``.
"""

import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
}
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INTEGER = re.compile(
    r"([-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_MAX_DIGITS = 100
"""More digits than any amount has; Python reads very long numbers slowly or not at all."""


class NotAValue(ValueError):
    """JSON, and so the Kubernetes API, has no value for this scalar."""


def plain_value(text: str) -> Scalar:
    """Return the value of an unquoted scalar without a tag.

    >>> [plain_value(text) for text in ("yes", "0755", "1e3", "2024-01-02", "1:30", "500m")]
    [True, 493, 1000.0, '2024-01-02', '1:30', '500m']

    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _NOT_FINITE.fullmatch(text):
        raise NotAValue(f"{text} is not a number that the Kubernetes API accepts")
    return _number(text)


def _number(text: str) -> int | float | str:
    digits = text if text[0] == "." else text.replace("_", "")
    if len(digits) <= _MAX_DIGITS and (match := _INTEGER.fullmatch(digits)):
        base = match.lastgroup or "decimal"
        value = int(match[base], _BASES[base])
        return -value if match[1] == "-" else value
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            raise NotAValue(f"{text[:40]} is out of range for the Kubernetes API")
        return number
    return text


def key_text(value: Scalar) -> str:
    """Return the JSON key of a scalar key."""
    if isinstance(value, str):
        return value
    if value is None:
        raise NotAValue("a key is empty")
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
