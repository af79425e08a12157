"""API calls that explain the decisions of a run."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.access import WorkspaceView, is_dry, saved_unless_dry
from planner.api.idempotency import once
from planner.api.schema import DRY_RUN, IDEMPOTENCY_KEY, answers
from planner.runs.api.serializers import evictions, explained, searches
from planner.runs.models import JobOutcome, Run
from planner.runs.selectors.explain import derivation, flow, job_story, loops, victim_story
from planner.runs.selectors.moments import moments_of
from planner.runs.selectors.runs import job_outcome
from planner.runs.selectors.searches import search_of
from planner.runs.selectors.steps import decisions
from planner.runs.selectors.stories import (
    SHOWN,
    job_decisions,
    node_at_end,
    node_decisions,
    node_pods,
    pod_decisions,
    pod_place,
    pod_waits_for,
    pods_by_step,
    victims_around_pod,
    victims_for_job,
    victims_of_job,
    victims_on_node,
)
from planner.runs.services.searches import search_create
from planning.object_states import node_reason, pod_reason


class ExplainQueue(WorkspaceView):
    """A queue's story."""

    @extend_schema(responses=answers({200: explained.QueueStorySerializer}, 404))
    def get(self, request: Request, run_id: UUID, name: str) -> Response:
        """Return why a queue deserves this amount, what it lost, and what other queues lost to it."""
        run = self.run()
        story = {
            "figures": get_object_or_404(run.queue_outcomes, queue=name),
            "deserved": derivation(run, name),
            "taken": [row for row in flow(run) if row.giver == name],
            "given": [row for row in flow(run) if row.taker == name],
        }
        return Response(explained.QueueStorySerializer(story).data)


class ExplainJob(WorkspaceView):
    """A job's story."""

    @extend_schema(responses=answers({200: explained.JobStorySerializer}, 404))
    def get(self, request: Request, run_id: UUID, namespace: str, job: str) -> Response:
        """Return why a job waits and what it lacks, the decisions about it, and the pods evicted for it."""
        run = self.run()
        outcome = _job_or_404(run, namespace, job)
        key = outcome.job
        story = {
            "outcome": outcome,
            "pending": job_story(run, key),
            "decisions": job_decisions(run, key),
            "taken": victims_of_job(run, key),
            "given": victims_for_job(run, key),
        }
        return Response(explained.JobStorySerializer(story).data)


def _job_or_404(run: Run, namespace: str, job: str) -> JobOutcome:
    """Return a job of a run by the name of its PodGroup or its vcjob."""
    outcome = job_outcome(run, f"{namespace}/{job}")
    if outcome is None:
        raise NotFound("The run has no such job.")
    return outcome


class ExplainUnblock(WorkspaceView):
    """A search for what would unblock a job."""

    @extend_schema(responses=answers({200: searches.SearchSerializer}, 404))
    def get(self, request: Request, run_id: UUID, namespace: str, job: str) -> Response:
        """Return the progress of the search and what it found; null if no search was started."""
        run = self.run()
        outcome = _job_or_404(run, namespace, job)
        search = search_of(run, outcome.job)
        return Response(searches.SearchSerializer(search).data if search else searches.no_search(outcome.job))

    @extend_schema(
        request=None,
        responses=answers({202: searches.SearchSerializer}, 403, 404, 422),
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
    )
    @once
    def post(self, request: Request, run_id: UUID, namespace: str, job: str) -> Response:
        """Start a search; a running or finished search is not repeated."""
        run = self.run()
        outcome = _job_or_404(run, namespace, job)
        with saved_unless_dry(request):
            search = search_create(run=run, job=outcome.job, user=self.user)
        body = searches.SearchSerializer(search).data
        return Response(body, 200 if is_dry(request) else 202)


class ExplainVictim(WorkspaceView):
    """A victim's story."""

    @extend_schema(responses=answers({200: evictions.VictimStorySerializer}, 404))
    def get(self, request: Request, run_id: UUID, order: int) -> Response:
        """Return why a pod was selected: for which pod, by which votes, and which candidates were spared."""
        run = self.run()
        victim = get_object_or_404(run.victims, order=order)
        return Response(evictions.VictimStorySerializer(_kept(victim_story(run, victim))).data)


class ExplainFlow(WorkspaceView):
    """Evictions between queues."""

    @extend_schema(responses=answers({200: evictions.FlowSerializer}, 404))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return what queues lost to each other by evictions."""
        return Response(evictions.FlowSerializer({"flows": flow(self.run())}).data)


class ExplainLoops(WorkspaceView):
    """Evictions that never end."""

    @extend_schema(responses=answers({200: evictions.LoopsSerializer}, 404))
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return which pods are evicted and bound again without end, why, and what ends that."""
        return Response(evictions.LoopsSerializer({"loops": loops(self.run())}).data)


class ExplainPod(WorkspaceView):
    """A pod's story."""

    @extend_schema(responses=answers({200: explained.PodStorySerializer}, 404))
    def get(self, request: Request, run_id: UUID, namespace: str, pod: str) -> Response:
        """Return the place of a pod, and the decisions about it and for it."""
        run, key = self.run(), f"{namespace}/{pod}"
        place, steps = pod_place(run, key), list(pod_decisions(run, key))
        if place is None and not steps:
            raise NotFound("The run has no such pod.")
        story = {
            "reason": pod_reason(key, place, steps, pod_waits_for(run, place)),
            "place": place,
            "decisions": steps,
            "victims": victims_around_pod(run, key),
        }
        return Response(explained.PodStorySerializer(story).data)


class ExplainNode(WorkspaceView):
    """A node's story."""

    @extend_schema(responses=answers({200: explained.NodeStorySerializer}, 404))
    def get(self, request: Request, run_id: UUID, node: str) -> Response:
        """Return the state of a node at the end, its pods, and the decisions on it."""
        run = self.run()
        at_end = node_at_end(run, node)
        if at_end is None:
            raise NotFound("The run has no such node.")
        steps = node_decisions(run, node)
        story = {
            "reason": node_reason(at_end, pods_by_step(steps)),
            "at_end": at_end,
            "pods": node_pods(run, node),
            "decisions": steps[:SHOWN],
            "victims": victims_on_node(run, node),
        }
        return Response(explained.NodeStorySerializer(story).data)


class ExplainStep(WorkspaceView):
    """A moment of a run."""

    @extend_schema(responses=answers({200: explained.StepSerializer}, 404))
    def get(self, request: Request, run_id: UUID, seq: int) -> Response:
        """Return the state of queues and nodes after a step; step 0 is the start of the session."""
        run = self.run()
        steps = decisions(run)
        if seq > len(steps):
            raise NotFound(f"The run took {len(steps)} steps.")
        step = steps[seq - 1] if seq else None
        cycle = step.cycle if step else 1
        moment = _kept(moments_of(run, cycle)).at(seq)
        body = {
            "step": step,
            "steps": len(steps),
            "cycle": cycle,
            "queues": moment.queues,
            "nodes": moment.nodes,
        }
        return Response(explained.StepSerializer(body).data)


def _kept(body: Any) -> Any:
    """Return the recorded explanation; answer 404 if an old run or a run without explanations has none."""
    if body is None:
        raise NotFound("The run recorded no explanation of this.", "no_explanation")
    return body
