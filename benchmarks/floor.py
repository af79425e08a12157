"""Does the least that any simulation needs: start, read the input and visit every object once.

``python -m benchmarks.floor FILE`` is measured by bench_simulate.py.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import numpy as np


def main() -> None:
    """Read one scenario and visit its pods and nodes."""
    gc.disable()
    document = json.loads(Path(sys.argv[1]).read_bytes())
    index = {node["metadata"]["name"]: number for number, node in enumerate(document["nodes"])}
    places = [index.get(pod["spec"].get("nodeName"), -1) for pod in document["pods"]]
    print(np.bincount(np.array(places, dtype=np.intp) + 1, minlength=1 + len(index))[0], "pods wait")


if __name__ == "__main__":
    main()
