"""Large traces are read in a child process, with the same results as small ones in the request."""

import gzip
import html
import resource
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from planner.errors import Invalid
from planner.forecasts.models import WorkloadTrace
from planner.forecasts.services import traces
from planner.forecasts.services.traces import trace_create, trace_of_file, trace_of_patterns, trace_of_text
from planner.work.awaited import IN_PROCESS_BYTES, READING, Compute, Cost, computed
from planning.forecasts.preview import plain, preview, preview_from
from planning.forecasts.trace_sources import from_patterns, from_snapshot, from_text
from planning.forecasts.trace_texts import read_workload
from tests import factories
from tests.processes.forks import killed_child

pytestmark = pytest.mark.django_db

HEADER = "name,queue,submit_seconds,run_seconds,pods,cpu,memory,nvidia.com/mig\n"
PATTERN = {"queue": "waits", "jobs_per_hour": 10.0, "pods": {"2": 1.0}, "requests": {"cpu": "4"}}


def jobs(count: int) -> str:
    """Return a trace of many jobs of 40 bytes each."""
    lines = (
        f"job-{number:07},queue-{number % 7},{number},{60 + number},{1 + number % 12},1,1Gi,{number % 2}"
        for number in range(count)
    )
    return HEADER + "\n".join(lines)


def packed(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("t.csv.gz", gzip.compress(text.encode()))


LARGE = jobs(IN_PROCESS_BYTES // 40 + 1_000)


def found(compute: Compute, content: bytes, options: dict[str, Any], *, is_large: bool) -> tuple[Any, ...]:
    """Return the text and facts that a function makes of a content, here or in a child, or its problems."""
    cost = Cost("trace.too_costly", "file", "Cut it.")
    reading = computed(compute, [content], options, name="Reading", cost=cost, is_large=is_large)
    try:
        with reading as (text, facts):
            return text.read(), facts
    except Invalid as error:
        return ("refused", error.problems)


def test_a_child_process_gives_the_same_text_facts_and_problems() -> None:
    assert len(LARGE) > IN_PROCESS_BYTES
    document = b'{"podgroups": [], "pods": []}'
    patterns = b'{"patterns": [%s], "seconds": 86400, "seed": 3}'
    sources: list[tuple[Compute, bytes, dict[str, Any]]] = [
        (from_text, factories.TRACE.encode(), {"format": ""}),
        (from_text, gzip.compress(LARGE.encode()), {"format": "queuecast"}),
        (from_text, b"\xef\xbb\xbf" + factories.TRACE.encode(), {"format": ""}),
        (from_text, LARGE.replace(",60,", ",soon,").replace(",70,", ",-1,").encode(), {"format": ""}),
        (from_text, b"once upon a time", {"format": ""}),
        (from_text, b"\x1f\x8bnothing", {"format": ""}),
        (from_text, b"name\xff", {"format": ""}),
        (from_snapshot, document, {"name": "mine", "since": ""}),
        (from_snapshot, document, {"name": "mine", "since": "yesterday"}),
        (from_patterns, patterns % b'{"queue": "waits", "jobs_per_hour": 10.0}', {}),
        (from_patterns, patterns % b'{"queue": "waits", "jobs_per_hour": 1e9}', {}),
    ]
    for compute, content, options in sources:
        here = found(compute, content, options, is_large=False)
        assert found(compute, content, options, is_large=True) == here


def test_a_stored_preview_is_that_of_the_trace() -> None:
    read, _ = read_workload(LARGE)
    assert read is not None
    shown = preview(read.trace)
    assert shown.devices == ["nvidia.com/mig"]
    assert preview_from(plain(shown)) == shown
    trace = trace_create(workspace=factories.workspace(), name="t", read=trace_of_text(text=LARGE))
    assert traces.trace_preview(WorkloadTrace.objects.get(pk=trace.pk)) == shown


def test_a_trace_of_an_earlier_release_is_read_once_more(api: APIClient) -> None:
    trace = factories.workload()
    before = api.get(f"/api/v1/traces/{trace.pk}/preview/").json()
    WorkloadTrace.objects.update(preview=None)
    assert api.get(f"/api/v1/traces/{trace.pk}/preview/").json() == before
    assert WorkloadTrace.objects.get().preview == trace.preview


def test_a_trace_of_an_earlier_release_that_takes_too_much_is_not_shown(
    api: APIClient, browser: Client, settings: Any
) -> None:
    trace = factories.workload(LARGE)
    WorkloadTrace.objects.update(preview=None)
    settings.IMPORT_SECONDS = 0
    answer = api.get(f"/api/v1/traces/{trace.pk}/preview/")
    assert (answer.status_code, answer.json()["problems"][0]["rule"]) == (422, "trace.too_costly")
    page = browser.get(f"/traces/{trace.pk}/", follow=True).content.decode()
    assert (
        "Trace four jobs cannot be shown. Reading the trace took longer than the limit of 0 seconds." in page
    )


def test_a_trace_that_takes_too_long_is_refused_with_a_fix_and_nothing_is_saved(
    api: APIClient, browser: Client, settings: Any
) -> None:
    snapshot = factories.snapshot(document={**factories.cluster(), "name": "x" * IN_PROCESS_BYTES})
    settings.IMPORT_SECONDS = 0
    sentence = "Reading the trace took longer than the limit of 0 seconds."
    generate = {"patterns": [{"queue": "waits", "jobs_per_hour": 1000}], "seconds": 100_000}
    sources: list[tuple[dict[str, Any], str]] = [
        ({"text": LARGE}, "file"),
        ({"generate": generate}, "seconds"),
        ({"jobs_of": {"snapshot": str(snapshot.pk)}}, "snapshot"),
    ]
    for source, place in sources:
        answer = api.post("/api/v1/traces/", {"name": "t", **source})
        [problem] = answer.json()["problems"]
        assert (answer.status_code, problem["rule"]) == (422, "trace.too_costly")
        assert (problem["message"], problem["path"]) == (sentence, place)
        assert problem["fix"]
    page = browser.post("/traces/", {"name": "t", "file": packed(LARGE)})
    assert page.status_code == 422
    assert sentence in page.content.decode()
    assert not WorkloadTrace.objects.exists()


def test_a_trace_that_needs_too_much_memory_is_refused(api: APIClient, settings: Any) -> None:
    settings.IMPORT_MEMORY_MB = 200
    hostile = packed(HEADER + "x" * 45_000_000)
    answer = api.post("/api/v1/traces/", {"name": "t", "file": hostile}, format="multipart")
    [problem] = answer.json()["problems"]
    assert problem["message"] == "Reading the trace needed more memory than the limit of 200 MiB."
    assert not WorkloadTrace.objects.exists()


def test_a_killed_child_is_a_sentence(api: APIClient) -> None:
    with killed_child(lambda: True):
        answer = api.post("/api/v1/traces/", {"name": "t", "file": packed(jobs(60_000))}, format="multipart")
    [problem] = answer.json()["problems"]
    assert (answer.status_code, problem["path"]) == (422, "file")
    assert problem["message"].startswith("Reading the trace was killed (SIGKILL)")
    assert not WorkloadTrace.objects.exists()
    assert api.post("/api/v1/traces/", {"name": "t", "text": LARGE}).status_code == 201


def test_all_problems_of_a_large_trace_come_at_once_with_line_and_column(
    api: APIClient, browser: Client
) -> None:
    lines = LARGE.split("\n")
    lines[5000] = lines[5000].replace("1Gi", "much")
    lines[6000] += ",more"
    text = "\n".join(lines)
    answer = api.post("/api/v1/traces/", {"name": "t", "file": packed(text)}, format="multipart")
    problems = answer.json()["problems"]
    assert [(one["line"], one["path"]) for one in problems] == [(5001, "memory"), (6001, None)]
    page = browser.post("/traces/", {"name": "t", "file": packed(text)})
    assert page.status_code == 422
    shown = html.unescape(page.content.decode())
    for words in ("line 5001", "'much' is not an amount", "line 6001"):
        assert words in shown


def test_a_large_trace_takes_no_memory_of_the_web_process(api: APIClient) -> None:
    api.post("/api/v1/traces/", {"name": "t", "text": factories.TRACE})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer = api.post("/api/v1/traces/", {"name": "t", "file": packed(jobs(80_000))}, format="multipart")
    assert (answer.status_code, answer.json()["jobs"]) == (201, 80_000)
    api.get(f"/api/v1/traces/{answer.json()['id']}/preview/")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    assert grown < 30, f"{grown:.0f} MB"


def test_while_the_server_reads_for_another_request_the_answer_is_503(api: APIClient) -> None:
    with READING.lock:
        small = api.post("/api/v1/traces/", {"name": "t", "text": factories.TRACE})
        answer = api.post("/api/v1/traces/", {"name": "t", "text": LARGE})
    assert small.status_code == 201
    assert (answer.status_code, answer["Retry-After"], answer.json()["code"]) == (503, "5", "busy")


def test_many_jobs_are_drawn_by_a_child_process_as_few_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {"patterns": [PATTERN], "seconds": 86_400.0, "seed": 3}
    here = trace_of_patterns(**arguments)
    monkeypatch.setattr(traces, "IN_PROCESS_JOBS", 0)
    apart = trace_of_patterns(**arguments)
    assert (here.source.sha256, here.facts, here.provenance) == (
        apart.source.sha256,
        apart.facts,
        apart.provenance,
    )


def test_a_trace_of_a_queue_for_each_job_is_refused() -> None:
    text = HEADER + "\n".join(
        f"job-{number},queue-{number},{number * 60},60,1,1,1Gi," for number in range(20_000)
    )
    with pytest.raises(Invalid) as refused:
        trace_of_text(text=text)
    [problem] = refused.value.problems
    assert (problem.rule, problem.path) == ("trace.too_many_queues", "queue")
    assert problem.message.startswith("The figures of 20,000 queues and of the devices of their jobs are")


def test_a_file_that_unpacks_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        trace_of_file(file=BytesIO(gzip.compress(b" " * 50_000_001, 1)))
    assert [problem.rule for problem in refused.value.problems] == ["trace.too_large"]
