"""The release of Volcano, from the tag of the scheduler's image."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from manifests.document import Steps
from manifests.findings import Findings
from manifests.reading import Origin, Reading, Source

REPOSITORY = "vc-scheduler"
"""The last part of the image's name, for any registry."""

_TAG = re.compile(r"v?\d+\.\d+(\.\d+)?(-[0-9A-Za-z.-]+)?")
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")


class _Image(NamedTuple):
    """An image of the scheduler, and its path."""

    name: str
    tag: str
    owner: str
    origin: Origin


class SchedulerImages:
    """The images of the scheduler found so far."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._images: list[_Image] = []

    def take(self, source: Source, steps: Steps, kind: str, value: dict[str, Any]) -> bool:
        """Add the scheduler's image of an object; return whether the object runs the scheduler."""
        way: Steps = ("spec",) if kind == "Pod" else ("spec", "template", "spec")
        if kind != "Pod" and kind not in _WORKLOADS:
            return False
        before = len(self._images)
        for number, image in _images(value, way):
            repository, tag = _split(image)
            if repository == REPOSITORY:
                owner = f"{kind} {_name(value)}"
                origin = Origin(source, (*steps, *way, "containers", number, "image"))
                self._images.append(_Image(image, tag, owner, origin))
        return len(self._images) > before

    def choose(self, reading: Reading) -> None:
        """Write the release into a reading without one; report images that disagree or have no version."""
        if reading.is_scenario or not self._images:
            return
        versions = [image for image in self._images if _TAG.fullmatch(image.tag)]
        for image in self._images:
            if image not in versions:
                message = f"{image.owner} runs image {image.name}, whose tag names no release of Volcano"
                self._add("release.unknown", "warning", image, message, "choose the release of the scenario")
        if not versions:
            return
        chosen = versions[0]
        for image in versions[1:]:
            if image.tag != chosen.tag:
                message = f"{image.owner} runs Volcano {image.tag}, but {chosen.owner} runs {chosen.tag}"
                fix = f"{chosen.tag} is used; choose the release of the scenario if that is wrong"
                self._add("release.several", "warning", image, message, fix)
        text = f"the cluster runs Volcano {chosen.tag} ({chosen.owner}): the rules of this release decide"
        self._add("release.found", "remark", chosen, text, "")
        reading.document["release"] = chosen.tag
        reading.origins[("release",)] = chosen.origin

    def _add(self, rule: str, severity: Any, image: _Image, message: str, fix: str) -> None:
        self._findings.add_at(
            image.origin.source, image.origin.steps, rule, severity, message, fix=fix, path="release"
        )


def _images(value: dict[str, Any], way: Steps) -> Iterator[tuple[int, str]]:
    """Yield the images of an object's containers with their positions."""
    spec: Any = value
    for step in way:
        spec = spec.get(step) if isinstance(spec, dict) else None
    containers = spec.get("containers") if isinstance(spec, dict) else None
    for number, container in enumerate(containers if isinstance(containers, list) else ()):
        image = container.get("image") if isinstance(container, dict) else None
        if isinstance(image, str) and REPOSITORY in image:
            yield number, image


def _split(image: str) -> tuple[str, str]:
    """Return the last part of an image's name, and its tag; empty without one.

    >>> _split("registry:5000/volcanosh/vc-scheduler:v1.14.4@sha256:0")
    ('vc-scheduler', 'v1.14.4')
    >>> _split("registry:5000/vc-scheduler")
    ('vc-scheduler', '')
    """
    repository, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return repository, tag


def _name(value: dict[str, Any]) -> str:
    metadata = value.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    return f"{known.get('namespace') or 'default'}/{known.get('name')}"
