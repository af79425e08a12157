"""What do Kubernetes manifests say, and on which line? Text to plain objects and back; no rule of Volcano."""

from manifests.conf import CONF_KEY, CONF_MAP, conf_line, conf_problems, parse_conf, resolve
from manifests.dump import dump
from manifests.problem import ReadProblem, Severity, Unreadable
from manifests.reader import MAX_TEXT_BYTES, read
from manifests.reading import Reading

__all__ = [
    "CONF_KEY",
    "CONF_MAP",
    "MAX_TEXT_BYTES",
    "ReadProblem",
    "Reading",
    "Severity",
    "Unreadable",
    "conf_line",
    "conf_problems",
    "dump",
    "parse_conf",
    "read",
    "resolve",
]
