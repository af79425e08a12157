"""The host ports of pods.

Source: kube-scheduler ``framework/types.go`` (HostPortInfo), ``util/utils.go`` (GetHostPorts) at 1.35.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scheduler_core.model.pod import is_sidecar

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - a value of the field, nothing is bound here


class HostPort(NamedTuple):
    """One port of a node."""

    address: str
    protocol: str
    port: int

    def conflicts(self, used: HostPort) -> bool:
        """Return whether the port is unavailable while `used` is in use."""
        if (self.protocol, self.port) != (used.protocol, used.port):
            return False
        return ANY_ADDRESS in (self.address, used.address) or self.address == used.address


def host_ports(spec: Mapping[str, Any]) -> tuple[HostPort, ...]:
    """Return the host ports of a pod's containers and sidecars, each once."""
    containers = list(spec.get("containers") or ())
    containers += [container for container in spec.get("initContainers") or () if is_sidecar(container)]
    ports = {
        HostPort(
            entry.get("hostIP") or ANY_ADDRESS, entry.get("protocol") or "TCP", int(entry["hostPort"])
        ): None
        for container in containers
        for entry in container.get("ports") or ()
        if int(entry.get("hostPort") or 0) > 0
    }
    return tuple(ports)
