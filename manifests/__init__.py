"""Kubernetes manifests: text to plain objects with line numbers, and back; without rules of Volcano."""

from manifests.conf import CONF_KEY, CONF_MAP, conf_lines, conf_manifest, conf_problems, parse_conf, resolve
from manifests.conf_patch import conf_patched
from manifests.dump import dump
from manifests.export_time import export_time
from manifests.kinds import EXPORT, is_namespaced
from manifests.patch import VERBS, NoPlace, Operation, patched, pointer
from manifests.problem import ReadProblem, Severity, Unreadable
from manifests.reader import MAX_TEXT_BYTES, Progress, read
from manifests.reading import Reading
from manifests.stripping import stripped, stripped_object
from manifests.unpack import text_bytes
from manifests.yaml_cuts import NoEdit
from manifests.yaml_edit import edited

__all__ = [
    "CONF_KEY",
    "CONF_MAP",
    "EXPORT",
    "MAX_TEXT_BYTES",
    "VERBS",
    "NoEdit",
    "NoPlace",
    "Operation",
    "Progress",
    "ReadProblem",
    "Reading",
    "Severity",
    "Unreadable",
    "conf_lines",
    "conf_manifest",
    "conf_patched",
    "conf_problems",
    "dump",
    "edited",
    "export_time",
    "is_namespaced",
    "parse_conf",
    "patched",
    "pointer",
    "read",
    "resolve",
    "stripped",
    "stripped_object",
    "text_bytes",
]
