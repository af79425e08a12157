"""Every trace format is read correctly, and every error has its line, its column and its fix."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from pathlib import Path
from textwrap import dedent

import pytest

from tests.traces.builders import trace_job
from traces import FORMATS, Unreadable, events_of, read_trace
from traces.read import format_of

OWN = """\
name,queue,submit_seconds,run_seconds,pods,min_member,cpu,memory,gpu,priority_class
b,team,20,30,4,2,2,4Gi,1,high
a,team,10,,1,,500m,1Gi,,
"""
PHILLY = """\
job_id,submit_s,duration_s,limit_s,queue,user,gang,gpu,cpu_milli,mem_mib,status
p0,5,100,,vc1,u1,2,8,,,
p1,7,0,,vc1,u1,1,1,,,
"""
HELIOS = """\
job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u1,vcA,train,16,64,2,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:10:20,600,10
2,u2,vcB,test,0,3,1,FAILED,2020-04-01 00:00:00,2020-04-01 00:00:01,2020-04-01 00:00:31,30,1
"""
ACME = """\
job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time
7,u9,1,8,96,Pretrain,COMPLETED,2023-05-01 00:00:00+08:00,,,3600,5,28800
"""
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-0,12000,16384,1,1000,,LS,Running,10,110,30
pod-1,6000,12288,0,0,,BE,Pending,20,,
"""
SWF = """\
; Version: 2.2
; UnixStartTime: 845924142
1 0 3 100 4 -1 -1 4 200 1024 1 2 3 -1 1 -1 -1 -1
2 9 -1 -1 -1 -1 -1 2 200 -1 5 2 3 -1 1 -1 -1 -1
"""
PHILLY_JSON = json.dumps(
    [
        {
            "status": "Pass",
            "vc": "ee9e8c",
            "jobid": "application_1_1",
            "user": "ce2f4c",
            "submitted_time": "2017-10-07 01:11:39",
            "attempts": [
                {
                    "start_time": "2017-10-07 01:12:00",
                    "end_time": "2017-10-07 01:13:14",
                    "detail": [
                        {"ip": "m1", "gpus": ["gpu0", "gpu1"]},
                        {"ip": "m2", "gpus": ["gpu0", "gpu1"]},
                    ],
                },
                {"start_time": "2017-10-07 01:14:00", "end_time": "2017-10-07 01:14:26", "detail": []},
            ],
        }
    ]
)
GROUP = {"scheduling.k8s.io/group-name": "train"}
OBJECTS = json.dumps(
    {
        "items": [
            {
                "kind": "PodGroup",
                "metadata": {"name": "train", "namespace": "ml", "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"minMember": 1, "queue": "research", "priorityClassName": "high"},
            },
            {
                "kind": "Pod",
                "metadata": {"name": "train-0", "namespace": "ml", "annotations": GROUP},
                "spec": {"containers": [{"resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]},
                "status": {
                    "startTime": "2026-01-01T00:01:00Z",
                    "containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-01-01T00:03:30Z"}}}],
                },
            },
        ]
    }
)
GPU = "nvidia.com/gpu"

READ = {
    "queuecast": (
        OWN,
        [
            trace_job("a", "team", 10, None, 1, 1, {"cpu": "500m", "memory": "1Gi"}),
            trace_job("b", "team", 20, 30, 4, 2, {"cpu": "2", "memory": "4Gi", GPU: "1"}, "", "high"),
        ],
    ),
    "philly": (PHILLY, [trace_job("p0", "vc1", 5, 100, 2, 2, {GPU: "8"}, "u1")]),
    "helios": (
        HELIOS,
        [
            trace_job("job-2", "vcB", 0, 30, 1, 1, {"cpu": "3"}, "u2"),
            trace_job("job-1", "vcA", 10, 600, 2, 2, {"cpu": "32", GPU: "8"}, "u1"),
        ],
    ),
    "acme": (ACME, [trace_job("job-7", "Pretrain", 0, 3600, 1, 1, {GPU: "8", "cpu": "96"}, "u9")]),
    "openb": (
        OPENB,
        [
            trace_job("pod-0", "LS", 10, 80, 1, 1, {"cpu": "12000m", "memory": "16384Mi", GPU: "1"}),
            trace_job("pod-1", "BE", 20, None, 1, 1, {"cpu": "6000m", "memory": "12288Mi"}),
        ],
    ),
    "swf": (SWF, [trace_job("job-1", "queue-1", 0, 100, 1, 1, {"cpu": "4", "memory": "4096Ki"}, "user-2")]),
    "philly-json": (
        PHILLY_JSON,
        [trace_job("application_1_1", "ee9e8c", 0, 100, 2, 2, {GPU: "2"}, "ce2f4c")],
    ),
    "kubernetes": (
        OBJECTS,
        [trace_job("ml/train", "research", 0, 150, 1, 1, {"cpu": "2", "memory": "1Gi"}, "", "high", {}, {})],
    ),
}


def test_every_format_has_an_example() -> None:
    assert set(READ) == set(FORMATS)


@pytest.mark.parametrize("name", READ)
def test_a_format_is_recognized_and_read(name: str) -> None:
    text, jobs = READ[name]
    assert format_of(text) == name
    assert list(read_trace(text).jobs) == jobs


def test_a_job_of_many_nodes_is_a_gang_where_the_header_says_how_large_a_node_is() -> None:
    header = "; MaxNodes: 16\n; MaxProcs: 128 (all of them)\n"
    line = "{} 0 3 100 {} -1 -1 {} 200 1024 1 2 3 -1 1 -1 -1 -1\n"
    lines = [line.format(number, procs, procs) for number, procs in ((1, 8), (2, 20), (3, 128))]
    trace = read_trace(header + "".join(lines), "swf")
    assert [(job.pods, job.min_member, dict(job.roles[0].requests)) for job in trace.jobs] == [
        (1, 1, {"cpu": "8", "memory": "8192Ki"}),
        (3, 3, {"cpu": "7", "memory": "6827Ki"}),
        (16, 16, {"cpu": "8", "memory": "8192Ki"}),
    ]
    [note] = trace.notes
    assert note.startswith("Assumed: 2 jobs of more than 8 processors")
    [note] = read_trace(header + lines[1], "swf").notes
    assert note == (
        "Assumed: 1 job of more than 8 processors, which a node of the machine has (MaxProcs / MaxNodes of"
        " the header), is a gang of pods of at most 8 CPUs."
    )
    assert [job.pods for job in read_trace("".join(lines), "swf").jobs] == [1, 1, 1]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("UnixStartTime: 845924142000", "line 1, UnixStartTime: '845924142000' is more than 1e+11"),
        (f"MaxProcs: {'9' * 5000}", f"line 1, MaxProcs: '{'9' * 40}'… is more than 1e+11"),
    ],
)
def test_a_number_of_the_header_that_is_too_large_is_an_error_at_its_line(header: str, problem: str) -> None:
    line = "1 0 3 100 8 -1 -1 8 200 1024 1 2 3 -1 1 -1 -1 -1\n"
    with pytest.raises(Unreadable) as caught:
        read_trace(f"; {header}\n; MaxNodes: ²\n{line}", "swf")
    assert [str(one).partition(" (")[0] for one in caught.value.problems] == [problem]


def test_memory_that_a_trace_does_not_say_is_noted_and_not_invented() -> None:
    rows = "a,q,0,9,2,,\nb,q,0,9,,,\nc,q,0,9,,,2\nd,q,0,9,1,1Gi,\n"
    events, notes = events_of(read_trace(f"name,queue,submit_seconds,run_seconds,cpu,memory,gpu\n{rows}"))
    requests = [
        event["create"]["pods"][0]["spec"]["containers"][0]["resources"]["requests"] for event in events
    ]
    assert [(one["cpu"], one["memory"]) for one in requests] == [
        ("2", "0"), ("4", "32Gi"), ("8", "64Gi"), ("1", "1Gi"),
    ]  # fmt: skip
    assert notes == [
        "Assumed: 4 cores and 32 GiB for each GPU of pods of 1 job, where CPUs or memory are unknown.",
        "Assumed: no memory, or no CPUs, for pods of 1 job, of which only the other is known.",
        "Assumed: 4 cores and 32 GiB for each pod of 1 job, of which neither is known.",
    ]


@pytest.mark.parametrize(
    ("name", "begin"),
    [("helios", "2020-04-01T00:00:00Z"), ("acme", "2023-04-30T16:00:00Z"), ("swf", "1996-10-21T18:55:42Z")],
)
def test_the_start_time_of_a_trace_is_kept(name: str, begin: str) -> None:
    assert read_trace(READ[name][0]).begin == begin


def test_a_text_that_no_file_can_hold_is_read_as_it_is() -> None:
    """Texts of callers may contain half of a surrogate pair."""
    trace = read_trace("name,queue,submit_seconds,run_seconds\na\ud800,team,1,2\n")
    assert [job.name for job in trace.jobs] == ["a\ud800"]


def test_skipped_jobs_are_noted() -> None:
    assert read_trace(PHILLY).notes == ("Left out: 1 job without run time.",)
    assert read_trace(SWF).notes == ("Left out: 1 job that never ran.",)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            """\
            name,queue,submit_seconds,pods
            a,q,soon,1
            a,q,-1,1
            ,q,2,1.5
            """,
            [
                "line 2, submit_seconds: 'soon' is not a number of at least 0",
                "line 3, submit_seconds: '-1' is not a number of at least 0",
                "line 3: the job a occurs twice",
                "line 4, pods: 1.5 is not a whole number",
                "line 4: the job has no name",
            ],
        ),
        (
            """\
            name,queue,submit_seconds,pods,cpu,memory
            a,q,1e300,1,x,8GB
            b,q,1_0,9999999,-1,1e400
            c,q,\u0661,1,1,1Gi
            """,
            [
                "line 2, submit_seconds: '1e300' is more than 1e+11 (write a smaller number)",
                "line 2, cpu: 'x' is not an amount",
                "line 2, memory: '8GB' is not an amount",
                "line 3, submit_seconds: '1_0' is not a number of at least 0",
                "line 3, cpu: '-1' is not an amount",
                "line 3, memory: '1e400' is not an amount",
                "line 3: a job has 9,999,999 pods, more than 1,000,000",
                "line 4, submit_seconds: '\u0661' is not a number of at least 0",
            ],
        ),
        (f"name,queue,submit_seconds\n{'a' * 200_000},q,1\n", ["line 1: not CSV: field larger than"]),
        ("[" * 100_000, ["the file: it is nested too deeply"]),
        (f"[{'9' * 5000}]", ["the file: a number has thousands of digits"]),
        ("1 0 3\n" + SWF, ["line 1: 3 fields instead of 18"]),
        ("[1,\n 2,,]", ["line 2, column 4: not JSON"]),
        ("[1]", ["line 1: the entry is not a job"]),
        ("who,what\na,b\n", ["the file: the format cannot be recognized (name one of queuecast"]),
        (
            "job_id,vc,gpu_num,submit_time,duration\n1,v,1,yesterday,5\n",
            ["line 2, submit_time: 'yesterday' is not a time (write a time such as"],
        ),
    ],
)
def test_every_problem_is_reported_with_its_place(text: str, problems: list[str]) -> None:
    text = dedent(text)
    named = "swf" if text.startswith("1 0 3") else ""
    with pytest.raises(Unreadable) as caught:
        read_trace(text, named)
    actual = [str(problem) for problem in caught.value.problems]
    assert all(any(one.startswith(problem) for one in actual) for problem in problems), actual


def test_a_job_that_occurs_twice_is_refused_in_every_format() -> None:
    [entry] = json.loads(PHILLY_JSON)
    group = {"kind": "PodGroup", "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    for text, problem in (
        (SWF + SWF.splitlines()[2], "line 5: the job job-1 occurs twice"),
        (json.dumps([entry, entry]), "line 2: the job application_1_1 occurs twice"),
        (json.dumps({"items": [group, group]}), "the file, items[1]: default/a occurs twice"),
    ):
        with pytest.raises(Unreadable) as caught:
            read_trace(text)
        assert str(caught.value).startswith(problem)


def test_lines_about_parts_of_a_swapped_out_job_are_left_out() -> None:
    whole = SWF.splitlines()[2]
    burst = whole.replace(" 1024 1 ", " 1024 {} ")
    trace = read_trace("\n".join([SWF, burst.format(2), burst.format(3)]))
    assert trace.jobs == read_trace(SWF).jobs
    assert trace.notes[-1] == "Left out: 2 lines about parts of jobs that others sum up."


def test_lines_may_end_as_on_old_systems() -> None:
    for end in ("\r", "\r\n"):
        assert len(read_trace(OWN.replace("\n", end)).jobs) == 2


def test_many_columns_are_read_quickly() -> None:
    began = time.process_time()
    header = ",".join(f"a{number}.b/c" for number in range(50_000))
    assert not read_trace(f"name,queue,submit_seconds,{header}\n").jobs
    assert time.process_time() - began < 3.0


def test_a_missing_column_is_named() -> None:
    with pytest.raises(Unreadable, match=r"line 1: missing columns: queue, submit_seconds"):
        read_trace("name\na\n", "queuecast")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,queue,submit_seconds,queue\na,b,1,c\n", "line 1: column named twice: queue"),
        ("name,queue,submit_seconds\na,b,1,000\n", "line 2: the line has more cells than the first line"),
        ("name,queue,submit_seconds,gpu\na,b,1\n", "line 2: the line has fewer cells than the first line"),
        (
            "name,queue,submit_seconds,pods,min_member\na,b,1,2,3\n",
            "line 2, min_member: 3 pods must run together, but the job has 2 pods",
        ),
        (
            "name,role,queue,submit_seconds,pods,min_member\na,x,b,1,1,4\na,y,b,1,2,4\n",
            "line 2, min_member: 4 pods must run together, but the job has 3 pods",
        ),
    ],
)
def test_a_line_that_does_not_fit_its_header_or_job_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_trace(text)
    assert str(caught.value).startswith(problem)


def test_columns_that_the_format_does_not_have_are_noted() -> None:
    trace = read_trace("name,queue,submit_seconds,gpus,amd.com/gpu\na,b,1,2,1\n")
    assert trace.notes == ("Ignored: the column gpus.",)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(Unreadable, match="the format 'xls' is not known"):
        read_trace(OWN, "xls")


@pytest.mark.long
def test_the_whole_philly_trace_is_read(shared: Path) -> None:
    with gzip.open(shared / "data" / "traces" / "philly_jobs.csv.gz", "rt") as file:
        trace = read_trace(file.read())
    assert len(trace.jobs) == 82_247
    assert len(trace.queues()) == 15
    assert 108 < trace.span / 86_400 < 109


def test_the_openb_pods_are_read(shared: Path) -> None:
    trace = read_trace((shared / "data" / "openb" / "openb_pod_list_default.csv").read_text())
    assert len(trace.jobs) == 8_152


def test_a_million_jobs_of_equal_pods_fit_in_memory() -> None:
    header = "name,queue,submit_seconds,run_seconds,pods,cpu,memory,user\n"
    text = header + "\n".join(
        f"job-{number},team-{number % 20},{number},{number % 3600 + 1},1,{number % 8 + 1},64Gi,u-{number % 9}"
        for number in range(5_000)
    )
    read_trace(text)
    tracemalloc.start()
    try:
        trace = read_trace(text)
        kept, most = (found / len(trace.jobs) for found in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert kept < 300, f"{kept:.0f} bytes a job"
    assert most < 550, f"{most:.0f} bytes a job while it is read"
