"""Hostile texts, each read in a separate process.

``python -m tests.attacks.texts`` reads them all and prints each outcome and the peak memory.
"""

import gzip
import io
import json
import multiprocessing
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import manifests
import scheduler_core

MANY = 10**6
APART = multiprocessing.get_context("forkserver")
APART.set_forkserver_preload(["manifests", "scheduler_core"])  # what each process then has when it begins


def queue(**spec: object) -> str:
    """Return a Queue as JSON."""
    return json.dumps(
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "q"},
            "spec": spec,
        }
    )


def named(name: str) -> str:
    """Return a Queue of that name."""
    return queue().replace('"q"', json.dumps(name))


def laughs(levels: int = 30) -> str:
    """Return a YAML text in which every line expands to ten copies of the line above."""
    lines = ["a0: &a0 [ha,ha,ha,ha,ha,ha,ha,ha,ha,ha]"]
    lines += [f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return "\n".join(lines)


def merges(levels: int = 40) -> str:
    """Return a YAML text that grows by merging mappings into mappings."""
    lines = ["m0: &m0 {k: v}"]
    lines += [
        f"m{level}: &m{level} {{<<: [*m{level - 1}, *m{level - 1}], k{level}: *m{level - 1}}}"
        for level in range(1, levels)
    ]
    return "\n".join(lines)


def archive() -> bytes:
    """Return a zip file with a member that would be written outside the folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("../../evil.yaml", queue())
    return packed.getvalue()


TEXTS: dict[str, Callable[[], bytes]] = {
    "yaml bomb of aliases": lambda: laughs().encode(),
    "yaml bomb of merge keys": lambda: merges().encode(),
    "yaml alias to itself": lambda: b"apiVersion: v1\nkind: Node\nmetadata: &a {name: n, labels: *a}\n",
    "yaml that builds an object": lambda: b"!!python/object/apply:os.system ['touch /tmp/pwned']\n",
    "yaml that names a module": lambda: b"kind: !!python/name:os.system ''\n",
    "yaml nested 100,000 lists deep": lambda: b"[" * 100_000,
    "yaml nested 20,000 mappings deep": lambda: b"{a: " * 20_000,
    "yaml of a million documents": lambda: b"---\n" * MANY,
    "yaml of a million anchors": lambda: b"".join(b"- &a%d x\n" % number for number in range(MANY)),
    "yaml key of ten megabytes": lambda: b"k" * 10 * MANY + b": v\n",
    "yaml with a key twice": lambda: b"apiVersion: v1\nkind: Node\nkind: Pod\nmetadata: {name: n}\n",
    "json nested 100,000 lists deep": lambda: b'{"a":' + b"[" * 100_000,
    "json number of a million digits": lambda: queue(weight=0).replace("0", "9" * MANY).encode(),
    "json that is not a number": lambda: b'{"kind":"Queue","spec":{"weight":NaN}}',
    "json that is infinite": lambda: b'{"kind":"Queue","spec":{"weight":-Infinity}}',
    "json with half a character": lambda: named("x").replace('"x"', '"\\ud800"').encode(),
    "json with NUL in a name": lambda: named("a\0b").encode(),
    "json with a key twice": lambda: b'{"kind":"Queue","kind":"Node"}',
    "gzip bomb": lambda: gzip.compress(bytes(400 * MANY), 9),
    "gzip bomb in gzip": lambda: gzip.compress(gzip.compress(bytes(400 * MANY), 9), 9),
    "gzip of many members": lambda: gzip.compress(bytes(20 * MANY), 9) * 20,
    "gzip that ends too early": lambda: gzip.compress(queue().encode())[:-12],
    "zip that would leave its folder": archive,
    "bytes that are no text": lambda: bytes(range(256)) * 100,
    "utf-16 without a mark": lambda: queue().encode("utf-16-le"),
    "quantity of ten to the 999999999": lambda: queue(capability={"cpu": "1e999999999"}).encode(),
    "quantity of a million digits": lambda: queue(capability={"cpu": "9" * MANY}).encode(),
    "quantity that is code": lambda: queue(capability={"cpu": "__import__('os')"}).encode(),
    "quantity below zero": lambda: queue(capability={"cpu": "-8"}).encode(),
    "weight beyond all integers": lambda: queue(weight=10**400).encode(),
    "name that climbs folders": lambda: named("../../etc/passwd").encode(),
    "name that is a script": lambda: named("<script>alert(1)</script>").encode(),
    "name that is a shell command": lambda: named("$(reboot)").encode(),
    "name of a megabyte": lambda: named("n" * MANY).encode(),
    "name that turns the text around": lambda: named("\u202eeman").encode(),
    "queue that is its own parent": lambda: queue(parent="q").encode(),
    "queue that is a list": lambda: b'{"apiVersion":"v1","kind":"List","items":[[[[]]]]}',
    "cycles without end": lambda: json.dumps({"name": "n", "nodes": [], "cycles": 10**18}).encode(),
    "regular expression that never ends": lambda: queue(capability={"cpu": "1" * 50_000 + "!"}).encode(),
}


def read(name: str) -> dict[str, object]:
    """Read one text; return the outcome and the peak memory of this process."""
    content = TEXTS[name]()
    before = peak_kb()
    reading = manifests.read([("../../evil.yaml", content)])
    problems = [*reading.problems, *scheduler_core.problems(reading.document)]
    after = peak_kb()
    refusals = [problem for problem in problems if problem.severity == "error"]
    return {
        "text": name,
        "refused": bool(refusals),
        "kept": sum(reading.counts.values()),
        "rule": refusals[0].rule if refusals else "",
        "message": refusals[0].message[:300] if refusals else "",
        "grew_mb": round((after - before) / 1024),
        "peak_mb": round(after / 1024),
    }


def peak_kb() -> int:
    """Return the peak memory of this program; getrusage includes that of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def read_apart(name: str, *, seconds: float = 60.0) -> dict[str, object]:
    """Read one text in a separate process."""
    with APART.Pool(1) as process:
        return process.apply_async(read, [name]).get(seconds)


def main() -> None:
    """Read all and print a table."""
    sys.stdout.write("| text | what became of it | peak of memory |\n|---|---|---|\n")
    for name in TEXTS:
        found = read_apart(name)
        ending = (
            f"refused: `{found['rule']}`" if found["refused"] else f"harmless: {found['kept']} objects read"
        )
        sys.stdout.write(f"| {name} | {ending} | {found['peak_mb']} MB |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
