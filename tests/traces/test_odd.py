"""Odd objects and odd columns of traces are refused with their place, or not read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from planning.forecasts.trace_texts import csv_of
from tests.traces.builders import trace_job
from tests.traces.test_read import OBJECTS
from traces import Role, Trace, Unreadable, read_trace

PLACES: list[tuple[tuple[str | int, ...], str]] = [
    (("items",), "a list"),
    (("items", 0, "metadata"), "an object"),
    (("items", 0, "metadata", "annotations"), "an object"),
    (("items", 0, "spec"), "an object"),
    (("items", 0, "spec", "minMember"), "a whole number"),
    (("items", 1, "metadata"), "an object"),
    (("items", 1, "spec"), "an object"),
    (("items", 1, "spec", "containers"), "a list"),
    (("items", 1, "spec", "containers", 0), "an object"),
    (("items", 1, "spec", "containers", 0, "resources"), "an object"),
    (("items", 1, "spec", "containers", 0, "resources", "requests"), "an object"),
    (("items", 1, "spec", "containers", 0, "resources", "requests", "cpu"), "an amount such as 8 or 64Gi"),
    (("items", 1, "spec", "initContainers"), "a list"),
    (("items", 1, "spec", "overhead"), "an object"),
    (("items", 1, "spec", "nodeSelector"), "an object"),
    (("items", 1, "spec", "tolerations"), "a list"),
    (("items", 1, "spec", "affinity"), "an object"),
    (("items", 1, "spec", "affinity", "nodeAffinity"), "an object"),
    (("items", 1, "status"), "an object"),
    (("items", 1, "status", "containerStatuses"), "a list"),
    (("items", 1, "status", "containerStatuses", 0, "state"), "an object"),
]


@pytest.mark.parametrize(("place", "expected"), PLACES)
def test_a_wrong_value_of_an_object_is_reported_with_its_place(
    place: tuple[str | int, ...], expected: str
) -> None:
    document = json.loads(OBJECTS)

    part: Any = document
    for key in place[:-1]:
        part = part[key] if isinstance(key, int) else part.setdefault(key, {})
    part[place[-1]] = "odd"
    with pytest.raises(Unreadable) as caught:
        read_trace(json.dumps(document))
    named = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
    (problem,) = [str(one) for one in caught.value.problems]
    assert problem == f"the file, {named}: expected {expected} (write what kubectl get … -o json prints)"


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_times_outside_of_any_calendar_are_no_times(time: str) -> None:
    metadata = {"name": "train", "namespace": "ml", "creationTimestamp": time}
    group = {"kind": "PodGroup", "metadata": metadata, "spec": {}}
    pod = {"metadata": {"namespace": "ml", "annotations": {"scheduling.k8s.io/group-name": "train"}}}
    found = read_trace(json.dumps({"items": [group, {"kind": "Pod", **pod}]}))
    assert found.jobs == ()


@pytest.mark.parametrize(
    ("constraints", "problem"),
    [
        ({"tolerations": [1]}, "tolerations[0] is not an object"),
        ({"nodeSelector": {"zone": 1}}, "nodeSelector.zone is not a text"),
        ({"affinity": {"nodeAffinity": []}}, "affinity.nodeAffinity is not an object"),
        ({"nodeName": "a"}, '\'{"nodeName": "a"}\' are no constraints'),
    ],
)
def test_constraints_that_no_pod_can_have_are_refused(constraints: Any, problem: str) -> None:
    cell = json.dumps(constraints).replace('"', '""')
    with pytest.raises(Unreadable) as caught:
        read_trace(f'name,queue,submit_seconds,constraints\na,q,1,"{cell}"\n')
    assert [f"{one.column}: {one.message}" for one in caught.value.problems] == [f"constraints: {problem}"]


def test_columns_that_no_resource_is_called_are_not_read() -> None:
    text = "name,queue,submit_seconds,see http://wiki/x,GPU / node,amd.com/gpu\na,q,1,no,no,2\n"
    assert [dict(job.roles[0].requests) for job in read_trace(text).jobs] == [{"amd.com/gpu": "2"}]


def test_a_request_called_like_a_column_is_not_written_over_it() -> None:
    job = trace_job("a", "q", 0, 30, requests={"queue": "1", "cpu": "2"}, constraints={})
    (read,) = read_trace(csv_of(Trace((job,)))).jobs
    assert read == replace(job, roles=(Role(1, {"cpu": "2"}, {}),))


@pytest.mark.parametrize("odd", [r"\ud800", r"\u0000", r"\uDEAD"])
def test_characters_that_cannot_be_stored_are_refused(odd: str) -> None:
    for text in (OBJECTS, json.dumps([{"jobid": "research", "vc": "a"}])):
        with pytest.raises(Unreadable, match="a text has a NUL or half of a surrogate pair"):
            read_trace(text.replace('"research"', f'"{odd}"'))
    with pytest.raises(Unreadable, match="are no constraints"):
        read_trace(
            f'name,queue,submit_seconds,constraints\na,q,1,"{{""nodeSelector"": {{""a"": ""{odd}""}}}}"\n'
        )


def test_a_character_that_no_database_stores_is_refused() -> None:
    with pytest.raises(Unreadable, match="line 2: the line has a NUL character"):
        read_trace("name,queue,submit_seconds\na,q\0,1\n")


def test_pairs_of_surrogates_are_one_character() -> None:
    (job,) = read_trace(OBJECTS.replace('"research"', r'"\ud83d\ude00 \\u0000"')).jobs
    assert job.queue == "\U0001f600 \\u0000"
