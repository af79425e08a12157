"""No object name makes the exported script do something else."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import manifests
from planner.scenarios.models import Queue
from planner.scenarios.selectors.export import scenario_export
from planner.scenarios.services.scenarios import scenario_create
from tests import factories

HOSTILE = [
    "--all", "-l=app", "-A", "--", "$(touch pwned)", "`touch pwned`", "; touch pwned", "a b", "'", '"',
    "a\nb", "\\", "*", "~", "--name=other", "#", "&& touch pwned", "-", ".", "..", "\u2028",
]  # fmt: skip


def cluster_with(names: list[str]) -> dict[str, Any]:
    document = factories.cluster()
    document["queues"] += [
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"weight": 1},
            "status": {"state": "Open"},
        }
        for name in names
    ]
    return document


@pytest.mark.django_db
def test_exported_script_names_only_queues(tmp_path: Path) -> None:
    """Clusters imported before the name check may have any name; fake programs record the script's calls."""
    names = sorted(HOSTILE)
    snapshot = factories.snapshot(cluster_with(names))
    scenario = scenario_create(snapshot=snapshot, name="what if", owner=factories.user())
    Queue.objects.filter(scenario=scenario, name__in=names).delete()
    for program in ("kubectl", "vcctl"):
        recorder = tmp_path / program
        recorder.write_text(
            '#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >>log; printf "\\1" >>log\n'
        )
        recorder.chmod(0o755)
    script = scenario_export(scenario).script
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh"], input=script.encode(), cwd=tmp_path, env=environment, check=True)
    calls = (tmp_path / "log").read_text().split("\x01")[:-1]
    actual = [call.split("\0")[:-1] for call in calls]
    deleted = [words[3] for words in actual if words[:3] == ["delete", "queue", "--"] and len(words) == 4]
    closed = [words[2] for words in actual if words[:2] == ["queue", "operate"] and len(words) == 4]
    assert len(deleted) + len(closed) == len(actual)
    assert sorted(deleted) == names
    assert {word.removeprefix("--name=") for word in closed} <= set(names)
    assert not (tmp_path / "pwned").exists()


LISTS = {"queues": "Queue", "nodes": "Node", "podgroups": "PodGroup", "pods": "Pod"}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("name", HOSTILE)
def test_name_that_kubernetes_rejects_is_not_imported(kind: str, name: str) -> None:
    document = factories.cluster()
    document[kind][0]["metadata"]["name"] = name
    reading = manifests.read([("cluster.json", json.dumps(document).encode())])
    found = [problem for problem in reading.problems if problem.rule == "form.name"]
    assert [(problem.severity, problem.path) for problem in found] == [("error", f"{kind}[0].metadata.name")]
    assert found[0].line == 1
    assert "lower-case" in (found[0].fix or "")


@pytest.mark.parametrize("namespace", ["--all-namespaces", "$(id)", "a.b", "a_b", "x" * 64, "../x"])
def test_namespace_that_kubernetes_rejects_is_not_imported(namespace: str) -> None:
    document = factories.cluster()
    document["pods"][0]["metadata"]["namespace"] = namespace
    reading = manifests.read([("cluster.json", json.dumps(document).encode())])
    found = [problem.path for problem in reading.problems if problem.rule == "form.name"]
    assert found == ["pods[0].metadata.namespace"]


def test_capital_letters_in_names_are_allowed_only_in_scenarios() -> None:
    scenario = factories.cluster()
    scenario["queues"][0]["metadata"]["name"] = "A"
    alone = {**scenario["queues"][0], "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    assert manifests.read([("a.json", json.dumps(alone).encode())]).has_errors
    assert not manifests.read([("a.json", json.dumps(scenario).encode())]).has_errors


@given(st.text(min_size=1, max_size=20))
def test_imported_names_are_single_words_that_are_not_options(name: str) -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
    reading = manifests.read([("queue.json", json.dumps(queue).encode())])
    if not reading.has_errors:
        assert name.isascii()
        assert name[0].isalnum()
        assert name[-1].isalnum()
        assert name.lower() == name, "only a scenario may have capital letters"
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
