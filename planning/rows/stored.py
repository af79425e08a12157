"""The rows and parts of a result, as they are stored: a child process writes them, a worker reads them."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

from planning.documents import encoded
from planning.rows.outcomes import RunCounts

Columns = dict[str, Any]
"""One row: a value for each column of its table."""

DECISIONS_IN_A_PART = 5_000

DECISIONS = "decisions"
PODS = "pods"
NODES = "nodes"
POOLS = "pools"
REQUESTS = "requests"
SESSIONS = "sessions"
DESERVED = "deserved"
PENDING = "pending"
VICTIMS = "victims"
SPARED = "spared"
LOOPS = "loops"
VERDICT = "verdict"


@dataclass(frozen=True)
class Part:
    """One part of a result, compressed; `key` names the object that it is about, if it is one."""

    part: str
    key: str
    packed: bytes
    size: int
    """Bytes when unpacked."""

    @classmethod
    def of(cls, part: str, payload: Any, key: str = "") -> "Part":
        """Return the part that holds `payload`."""
        content = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        return cls(part, key, zlib.compress(content, 6), len(content))


def payload_of(packed: bytes | memoryview) -> Any:
    """Return what a part holds."""
    return json.loads(zlib.decompress(packed))


def holds(packed: bytes | memoryview, words: str) -> bool:
    """Return whether a text, in lower case, occurs in a part.

    >>> holds(Part.of(PODS, {"ml/Train": []}).packed, "train")
    True
    """
    return json.dumps(words, ensure_ascii=False)[1:-1] in zlib.decompress(packed).decode().lower()


def preemptor_key(pod: str, job: str) -> str:
    """Return the key of decisions for a pod, or for a whole gang if there is no pod."""
    return pod or f"gang {job}"


@dataclass(frozen=True)
class Rows:
    """The rows of one result, and its explanations in parts."""

    queues: Sequence[Columns]
    jobs: Sequence[Columns]
    victims: Sequence[Columns]
    parts: Sequence[Part]
    counts: RunCounts

    def write(self, target: IO[bytes]) -> None:
        """Write the rows as a line of JSON, followed by the contents of the parts."""
        listed = [(part.part, part.key, len(part.packed), part.size) for part in self.parts]
        line = {
            "queues": self.queues,
            "jobs": self.jobs,
            "victims": self.victims,
            "parts": listed,
            "counts": asdict(self.counts),
        }
        target.write(encoded(line))
        target.writelines(part.packed for part in self.parts)

    @classmethod
    def read(cls, source: IO[bytes]) -> "Rows":
        """Return the rows that `write` wrote."""
        line = json.loads(source.readline())
        parts = [Part(part, key, source.read(length), size) for part, key, length, size in line["parts"]]
        return cls(line["queues"], line["jobs"], line["victims"], parts, RunCounts(**line["counts"]))
