"""Tables of jobs: separators, quotes, many wrong lines and many equal jobs."""

from __future__ import annotations

import time

import pytest

from traces import Unreadable, read_trace
from traces.read import format_of

TABLE = "name,queue,submit_seconds,run_seconds\na,team,0,30.5\nb,team,1,60\n"


@pytest.mark.parametrize("named", ["", "queuecast"])
@pytest.mark.parametrize(("by", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_another_separator_than_commas_is_named(by: str, words: str, named: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_trace(TABLE.replace(",", by), named)
    says = f"the cells are separated by {words} (separate them by commas, and write 1.5 instead of 1,5)"
    assert str(caught.value) == f"line 1: {says}"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_names_of_columns_may_be_quoted(end: str) -> None:
    first, rest = TABLE.split("\n", 1)
    quoted = ",".join(f'"{name}"' for name in first.split(","))
    text = f"{quoted}\n{rest}".replace("\n", end)
    assert format_of(text) == "queuecast"
    assert read_trace(text) == read_trace(TABLE)


def test_quoted_names_with_semicolons_are_refused_for_the_semicolons() -> None:
    with pytest.raises(Unreadable, match="separated by semicolons"):
        read_trace('"job_id";"submit_s";"duration_s";"queue"\n1;0;1,5;q\n')


def test_reading_ends_with_the_hundredth_problem() -> None:
    wrong = "".join(f"j{number},q,x\n" for number in range(300_000))
    began = time.process_time()
    with pytest.raises(Unreadable) as caught:
        read_trace(f"name,queue,submit_seconds\n{wrong}")
    assert [problem.line for problem in caught.value.problems] == list(range(2, 102))
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (
            "job_id,submit_s,duration_s,queue,user,gang,gpu,cpu_milli,mem_mib",
            "{},5,100,vc1,u1,2,8,4000,32768",
        ),
        ("job_id,vc,gpu_num,cpu_num,submit_time,duration", "{},vc1,8,16,2020-04-01 00:00:08,100"),
        ("name,cpu_milli,memory_mib,num_gpu,qos,creation_time", "{},4000,1000,1,LS,8"),
        ("; UnixStartTime: 0", "{} 0 3 100 8 -1 -1 8 200 1024 1 2 3 -1 1 -1 -1 -1"),
    ],
)
def test_equal_jobs_share_the_description_of_their_pods(header: str, line: str) -> None:
    jobs = read_trace("\n".join([header, *(line.format(number) for number in range(1, 101))])).jobs
    assert len(jobs) == 100
    assert len({id(job.roles) for job in jobs}) == len({id(job.queue) for job in jobs}) == 1
