import bz2
import gzip
import json
import lzma
import tarfile
import time
import tracemalloc
from dataclasses import dataclass, field
from io import BytesIO
from zipfile import ZipFile

import pytest

import manifests
from tests.manifests.texts import CLUSTER, QUEUE

DEEP = 200


@dataclass
class Case:
    text: str
    want: list[tuple[str, int | None, str]]
    """Rule, line and path of each problem, in order."""
    kept: dict[str, int] = field(default_factory=dict)
    """The number of objects that are read in spite of them."""


def second(broken: str) -> str:
    """Return three documents, the second of which is broken and starts on line 11."""
    return f"{QUEUE}---\n{broken}---\n{QUEUE.replace('training', 'other')}"


CASES = {
    "not YAML: the rest is read": Case(second("a: b: c\n"), [("yaml.syntax", 11, "")], kept={"queues": 2}),
    "a tab is no indentation": Case(second("a:\n\tb: 1\n"), [("yaml.syntax", 12, "")], kept={"queues": 2}),
    "an unclosed quote is reported where it opens": Case(
        'apiVersion: v1\nkind: "Node\nmetadata:\n  name: n\n', [("yaml.syntax", 2, "")]
    ),
    "a star starts an alias": Case(second("a: *\n"), [("yaml.syntax", 11, "")], kept={"queues": 2}),
    "an unrendered template": Case(
        QUEUE.replace("weight: 4", "weight: {{ .Values.weight }}"), [("yaml.template", 6, "spec.weight")]
    ),
    "a duplicate key": Case(
        QUEUE + "  weight: 5\n", [("yaml.duplicate", 10, "spec.weight")], kept={"queues": 1}
    ),
    "an undefined alias": Case(
        QUEUE.replace("weight: 4", "weight: *w"), [("yaml.alias", 6, "spec.weight")], kept={"queues": 1}
    ),
    "an alias inside itself": Case(second("a: &x\n- *x\n"), [("yaml.alias", 12, "a[0]")], kept={"queues": 2}),
    "not a number": Case(
        QUEUE.replace("weight: 4", "weight: .nan"), [("yaml.value", 6, "spec.weight")], kept={"queues": 1}
    ),
    "a key that is not a string": Case(
        QUEUE + "  ? [a]\n  : 1\n", [("yaml.key", 10, "spec")], kept={"queues": 1}
    ),
    "a tag that Kubernetes does not know": Case(
        QUEUE.replace("weight: 4", "weight: !!python/object:os.system x"),
        [("yaml.tag", 6, "spec.weight")],
        kept={"queues": 1},
    ),
    "a character that is not allowed in YAML": Case(
        QUEUE.replace("training", "train\x01ing"),
        [("yaml.character", 4, "")],
    ),
    "too deeply nested": Case(
        second("a: " + "[" * DEEP + "]" * DEEP + "\n"), [("yaml.depth", 11, "a[0][0]")], kept={"queues": 2}
    ),
    "several problems at once, in several documents": Case(
        f"{QUEUE}  weight: 1\n---\na: *\n---\nkind: Pod\n",
        [("yaml.duplicate", 10, "spec.weight"), ("yaml.syntax", 12, ""), ("form.kind", 14, "apiVersion")],
    ),
    "no name": Case(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n", [("form.name", 3, "metadata.name")]
    ),
    "no metadata": Case("apiVersion: v1\nkind: Pod\n", [("form.name", 1, "metadata.name")]),
    "a name that is a number": Case(QUEUE.replace("training", "123"), [("form.type", 4, "metadata.name")]),
    "a name that is a URL": Case(QUEUE.replace("training", "../../etc"), [("form.name", 4, "metadata.name")]),
    "metadata that is a string": Case(
        "apiVersion: v1\nkind: Pod\nmetadata: x\n", [("form.type", 3, "metadata")]
    ),
    "a spec that is a list": Case(QUEUE[: QUEUE.index("  weight")] + "- 1\n", [("form.type", 5, "spec")]),
    "no kind": Case("apiVersion: v1\nmetadata: {name: x}\n", [("form.kind", 1, "kind")]),
    "a string in place of an object": Case("just words\n", [("form.type", 1, "")]),
    "a number among the items of a List": Case(
        "apiVersion: v1\nkind: List\nitems:\n- 7\n", [("form.type", 4, "items[0]")]
    ),
    "the same object twice counts once": Case(
        f"{QUEUE}---\n{QUEUE}", [("form.repeated", 11, "queues[0].metadata.name")], kept={"queues": 1}
    ),
    "another object of the same name": Case(
        f"{QUEUE}---\n{QUEUE.replace('weight: 4', 'weight: 5')}",
        [("form.duplicate", 11, "queues[0].metadata.name")],
        kept={"queues": 1},
    ),
    "a configuration that is not YAML": Case(
        CLUSTER.replace("    tiers:", "    tiers: :"), [("yaml.syntax", 26, "scheduler_conf")]
    ),
    "a duplicate key of the configuration is a warning": Case(
        CLUSTER.replace("    tiers:", "    actions: allocate\n    tiers:"),
        [("yaml.duplicate", 26, "scheduler_conf.actions")],
    ),
    "a ConfigMap without a configuration": Case(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  volcano-scheduler.conf: 7\n",
        [("conf.missing", 5, 'data["volcano-scheduler.conf"]')],
    ),
    "not JSON: the rest is read": Case(
        '{"apiVersion": "v1",\n "kind": "Node",\n "metadata" {}}\n'
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}\n',
        [("json.syntax", 3, "")],
        kept={"nodes": 1},
    ),
    "a duplicate key in JSON": Case(
        '{"apiVersion": "v1", "kind": "Node",\n "metadata": {"name": "n"},\n'
        '"spec": {"a": [{"b": 1,\n"b": 2}]}}',
        [("json.duplicate", 4, "spec.a[0].b")],
        kept={"nodes": 1},
    ),
    "NaN in JSON": Case(
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},\n "spec": {"a": NaN,\n"b": 1e999}}',
        [("json.value", 2, "spec.a"), ("json.value", 3, "spec.b")],
        kept={"nodes": 1},
    ),
    "a lone surrogate in JSON": Case(
        '{"apiVersion": "v1",\n "kind": "\\ud800"}', [("json.character", 2, "kind")]
    ),
    "too deeply nested in JSON": Case('{"a":\n' + "[" * 5000 + "]" * 5000 + "}", [("json.depth", 2, "")]),
    "a number of too many digits in JSON": Case(
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},\n "spec": {"a": '
        + "9" * 5000
        + "}}",
        [("json.value", 2, "spec.a")],
        kept={"nodes": 1},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_problem_has_its_rule_line_and_path(case: Case) -> None:
    reading = manifests.read([("cluster.yaml", case.text.encode())])
    assert [(found.rule, found.line, found.path) for found in reading.problems] == case.want
    assert {name: count for name, count in reading.counts.items() if count}.items() >= case.kept.items()
    assert all(found.fix or found.severity == "remark" for found in reading.problems)


def test_documents_are_named_by_file_and_number() -> None:
    reading = manifests.read([("one.yaml", QUEUE.encode()), ("two.yaml", second("a: *\n").encode())])
    assert [found.document for found in reading.problems if found.rule == "yaml.syntax"] == ["two.yaml#2"]


# Undecodable bytes, and hostile inputs


def test_undecodable_bytes_are_refused_with_their_line() -> None:
    (problem,) = manifests.read([("f", b"apiVersion: v1\nkind: \xff\xfe\n")]).problems
    assert (problem.rule, problem.line) == ("file.encoding", 2)


def test_a_truncated_or_damaged_gzip_file_is_refused() -> None:
    packed = gzip.compress(QUEUE.encode() * 100)
    for broken in (packed[:-20], packed[:30] + b"x" * 40):
        (problem,) = manifests.read([("f.gz", broken)]).problems
        assert problem.rule == "file.gzip"


@pytest.mark.parametrize("name", ["zip", "tar", "tar in gzip", "bzip2", "xz"])
def test_an_archive_is_one_problem_that_names_its_format(name: str) -> None:
    file = BytesIO()
    if name == "zip":
        with ZipFile(file, "w") as zipped:
            zipped.writestr("cluster.yaml", QUEUE)
    elif name.startswith("tar"):
        with tarfile.open(fileobj=file, mode="w:gz" if "gzip" in name else "w") as tar:
            tar.addfile(tarfile.TarInfo("cluster.yaml"), BytesIO())
    else:
        file.write((bz2 if name == "bzip2" else lzma).compress(QUEUE.encode()))
    (problem,) = manifests.read([("cluster", file.getvalue())]).problems
    assert problem.rule == "file.archive"
    assert f"format {name.partition(' ')[0]}," in problem.message


def test_a_gzip_bomb_is_refused_without_being_inflated() -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    tracemalloc.start()
    (problem,) = manifests.read([("f.gz", bomb)], limit=1_000_000).problems
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problem.rule == "file.size"
    assert peak < 10_000_000


def test_the_size_limit_applies_to_all_files_together() -> None:
    files = [(str(number), QUEUE.replace("training", f"q{number}").encode()) for number in range(3)]
    reading = manifests.read(files, limit=2 * len(QUEUE))
    assert [found.rule for found in reading.problems] == ["file.size"]
    assert reading.counts["queues"] == 2


def test_an_alias_bomb_is_refused_early() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (problem,) = manifests.read([("f", "\n".join(lines).encode())]).problems
    assert problem.rule == "yaml.aliases"


def test_a_broken_configuration_is_refused_when_parsed_alone() -> None:
    with pytest.raises(manifests.Unreadable) as refused:
        manifests.parse_conf("actions: allocate\ntiers: [\n")
    assert refused.value.problems[0].line is not None
    with pytest.raises(manifests.Unreadable, match="mapping"):
        manifests.parse_conf("- gang\n")


def test_a_configmap_without_a_configuration_cannot_be_resolved() -> None:
    with pytest.raises(manifests.Unreadable, match=r"volcano-scheduler\.conf"):
        manifests.resolve({"scheduler_conf": {"kind": "ConfigMap", "data": {}}})


@pytest.mark.parametrize(
    "conf", ["actions: allocate\n", {"actions": "allocate"}, json.dumps({"actions": "allocate"})]
)
def test_a_resolved_scenario_has_its_configuration_as_a_structure(conf: object) -> None:
    assert manifests.resolve({"nodes": [], "scheduler_conf": conf}) == {
        "nodes": [],
        "scheduler_conf": {"actions": "allocate"},
    }


def test_a_scenario_without_a_configuration_resolves_to_one_without() -> None:
    assert manifests.resolve({"nodes": [], "scheduler_conf": None}) == {"nodes": []}


def test_problems_beyond_the_limit_are_counted() -> None:
    text = "---\n".join(["apiVersion: v1\nkind: Pod\n"] * 1200)
    problems = manifests.read([("f", text.encode())]).problems
    assert len(problems) == 1001
    assert (problems[-1].rule, problems[-1].severity) == ("form.more", "error")
    assert problems[-1].message == "200 more problems are not shown"


@pytest.mark.parametrize("rest", ["", '"b": ' + "[" * 5000 + "]" * 5000 + ",", r'"b": "\ud800",'])
def test_a_json_document_of_many_errors_is_not_searched_to_its_end(rest: str) -> None:
    text = '{"apiVersion": "v1",\n' + '"a": 1,\n' * 5000 + rest + '"kind": "Node"}\n' + QUEUE
    began = time.process_time()
    reading = manifests.read([("f", text.encode())])
    assert time.process_time() - began < 1.0
    assert [problem.line for problem in reading.problems[:999]] == list(range(3, 1002))
    assert {problem.rule for problem in reading.problems[:999]} == {"json.duplicate"}
    many = reading.problems[999]
    assert (many.rule, many.line) == ("form.many", 1001)
    assert many.message == "the document has 999 errors up to here; further ones are not searched"


def test_reading_stops_after_too_many_broken_documents() -> None:
    problems = manifests.read([("f", b"a: *\n---\n" * 5000)]).problems
    assert len(problems) == 101
    assert problems[-1].rule == "form.many"
