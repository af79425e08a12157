"""The glossary, for the page and for docs/glossary.md."""

from collections.abc import Mapping

VOLCANO: Mapping[str, str] = {
    "action": "A step of a scheduling cycle, such as enqueue, allocate or reclaim. Actions run in"
    " the configured order.",
    "allocated": "Resources of a queue's running pods, and of the pods just placed.",
    "backfill": "The action that places pods without resource requests.",
    "bind": "Assign a pod to a node.",
    "capability": "The most resources a queue may use. A resource that is not set has no limit.",
    "conformance": "The plugin that protects critical pods from eviction.",
    "cycle": "One pass of the scheduler over the cluster, also called a session.",
    "deserved": "The amount a queue is entitled to. The proportion plugin calculates it from the weights; the"
    " capacity plugin reads it from the queue. Above it, pods may be reclaimed by other queues.",
    "drf": "Dominant resource fairness: jobs are ordered by their largest share of any resource.",
    "elastic": "Resources of a queue's jobs beyond their minMember.",
    "enqueue": "The action that moves a pending PodGroup to Inqueue, so that its pods may be placed.",
    "evict": "End a running pod to make room for another one.",
    "gang": "A job whose pods run together: at least minMember of them, or none.",
    "gate": "A check that a job must pass before its pods run. A waiting job shows the gate at which"
    " it waits.",
    "guarantee": "Resources reserved for a queue, even while it is idle.",
    "inqueue": "Resources reserved for jobs that are enqueued but not running yet.",
    "job": "The scheduler's view of one PodGroup, named namespace/podgroup.",
    "minMember": "The number of pods of a PodGroup that must be placed for any of them to run.",
    "overused": "Said of a queue that uses its deserved amount or more; it gets no more resources in"
    " this cycle.",
    "parent": "The queue above another one. The hierarchy starts at root.",
    "pipelined": "Placed on resources that are still being released; the pod starts when they are free.",
    "plugin": "A part of the scheduler that orders jobs, limits queues, filters nodes or picks victims.",
    "PodGroup": "The object that groups pods and assigns them to a queue.",
    "preempt": "The action that evicts pods inside one queue, for a job of higher priority.",
    "preemptor": "The pod or job that others are evicted for; for reclaim also called the reclaimer.",
    "queue": "A share of the cluster to which jobs are submitted.",
    "real capability": "The most a queue can use once the guarantees of all other queues are set aside.",
    "reclaim": "The action that evicts pods of queues above their deserved amount, for a queue below"
    " its own.",
    "reclaimable": "Whether other queues may reclaim resources from this queue. If not, its pods are"
    " safe from reclaim.",
    "releasing": "Resources of pods that are terminating.",
    "request": "Resources requested by all pods of a queue, running and waiting.",
    "share": "How full a queue is: allocated ÷ deserved, for the dominant resource (the one with the"
    " largest ratio).",
    "starving": "Said of a job with fewer pods placed than its minMember.",
    "task": "The scheduler's view of one pod.",
    "tier": "A group of plugins in the configuration. The first tier with an answer decides about victims.",
    "victim": "A running pod chosen for eviction.",
    "weight": "The proportion in which the proportion plugin divides contested resources.",
}
"""Volcano's terms, with Volcano's meaning."""

GATES: Mapping[str, str] = {
    "unknown-queue": "The PodGroup names a queue that does not exist.",
    "closed": "The queue is not Open.",
    "enqueue": "A plugin rejects the job at enqueue: its minResources do not fit beside what is used"
    " and reserved.",
    "no-action": "The action that would place its pods is not configured.",
    "no-pods": "The job is enqueued, and its controller has not created its pods yet.",
    "gang": "The job has fewer pods, in total or of one role, than it needs to run.",
    "scheduling-gate": "Pods that the job needs have a Kubernetes scheduling gate.",
    "overused": "The queue uses its deserved amount or more, so allocate skips it.",
    "queue": "The queue, or one of its ancestors, has reached its limit for a resource.",
    "node": "No node fits a pod of the job.",
    "reclaim": "Action allocate is not configured, and the queue may not reclaim for the job.",
    "refused": "A node was found for a pod, but a plugin or the node rejected it at the last moment.",
    "turn": "No action tried the job in this cycle: it was enqueued after allocate had run.",
}
"""The gates at which a job waits, named as on pages and in the API."""

OURS: Mapping[str, str] = {
    "workspace": "A group of accounts with their clusters and scenarios. Members are viewers,"
    " editors or admins.",
    "cluster": "A named cluster, real or imagined, with its snapshots over time.",
    "snapshot": "An imported state of a cluster. It never changes.",
    "import": "Reading files into a snapshot. A worker reads large clusters.",
    "scenario": "A snapshot plus your changes to queues, scheduler configuration, nodes and workloads.",
    "revision": "The number of the last edit of a scenario. An edit states the revision it is based on.",
    "change": "An entry of the history: who changed what, when, from which value to which.",
    "difference": "One thing in which a scenario differs from its snapshot, or from its start.",
    "preview": "The calculated figures of every queue at the start of a cycle. Nothing is scheduled.",
    "ignored": "Said of a queue field that no configured plugin or action reads.",
    "checks": "All findings about a scenario: refused by Volcano, accepted but harmful, or good to know.",
    "branch": "A scenario that starts as a copy of another one at a revision.",
    "rebase": "Create a branch on a newer snapshot with all changes of a scenario. You decide each conflict.",
    "node pool": "Nodes with the same instance type and the same resources.",
    "workload": "A vcjob with its PodGroup and pods, a PodGroup with its pods, or a single pod.",
    "run": "One simulation of a scenario's revision over a frozen input.",
    "frozen input": "The scenario document that a run reads. The same document always gives the same"
    " result bytes.",
    "notes": "What a run leaves out because it is not modelled, and what it assumes where nothing is set.",
    "outcome": "The result of a run: queues, jobs, victims and decisions.",
    "decision": "One thing the scheduler did, in order: enqueue, bind, pipeline or evict.",
    "step": "The number of a decision in its run. Step 0 is the start of the session.",
    "turnaround": "The time from a job's submission to its end.",
    "slowdown": "Turnaround divided by the time from start to end, which counts as at least 10 s: how much"
    " longer a job takes because it waits (bounded slowdown, after Feitelson).",
    "starvation": "The time in which a queue lacks a resource: it has allocated less than it both deserves"
    " and requests.",
    "Jain's index": "How evenly queues are served with a resource, from allocated ÷ deserved of each queue"
    " that requests it: 1 if all are equal, 1/n if one of n queues has all (Jain et al., 1984).",
    "churn": "Evictions per 1,000 hours of allocated pods, and the part of this time that they lose (after"
    " Verma et al., Borg).",
    "search": "Simulations that find the smallest changes that let a waiting job run.",
    "problem": "A finding about a plan: rule, severity, path, actual and allowed value, and the fix.",
}
"""Queuecast's own terms."""


def anchor(term: str) -> str:
    """Return the fragment of a term on the page.

    >>> anchor("real capability"), anchor("Jain's index")
    ('real-capability', 'jains-index')
    """
    return term.lower().replace(" ", "-").replace("'", "")


def gate_anchor(gate: str) -> str:
    """Return the fragment of a gate on the page."""
    return f"gate-{gate}"
