"""Links from the names of queues, jobs, pods and nodes to their pages in a run."""

import re

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from planner.runs.models import Run
from planner.web.glossary import GATES, OURS, VOLCANO, anchor, gate_anchor
from planner.web.templatetags.grids import breakable
from planner.web.templatetags.quantities import soft

register = template.Library()
_PAGES = {
    "run": "planner:run-detail",
    "scenario": "planner:scenario-detail",
    "forecast": "planner:forecast",
    "experiment": "planner:experiment",
    "trace": "planner:trace",
}
"""The page of an object that an event names by its id."""
_NAMED = re.compile(rf"\b({'|'.join(_PAGES)}) ([0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})")


@register.simple_tag
def help_link(term: str) -> SafeString:
    """Link a word to its entry in the glossary, by a question mark; empty without an entry."""
    return _help(anchor(term), term) if term in VOLCANO or term in OURS else SafeString("")


@register.simple_tag
def gate_help(reason: str) -> SafeString:
    """Link the gate of a reason to its entry in the glossary."""
    gate = reason.removeprefix("gate.")
    return _help(gate_anchor(gate), f"gate {gate}") if gate in GATES else SafeString("")


@register.simple_tag
def queue_link(run: Run, queue: str) -> SafeString:
    """Link a queue to its page in this run."""
    return _link(reverse("planner:run-queue", args=[run.pk, queue]), queue) if queue else soft("–")


@register.simple_tag
def job_link(run: Run, job: str) -> SafeString:
    """Link a job, ``namespace/name``, to its page in this run."""
    namespace, _, name = job.partition("/")
    if not (namespace and name):
        return format_html("{}", job) if job else soft("–")
    return _link(reverse("planner:run-job", args=[run.pk, namespace, name]), breakable(job))


@register.simple_tag
def pod_link(run: Run, pod: str) -> SafeString:
    """Link a pod, ``namespace/name``, to its page in this run."""
    namespace, _, name = pod.partition("/")
    if not name:
        return soft("–")
    return _link(reverse("planner:run-pod", args=[run.pk, namespace, name]), breakable(pod))


@register.simple_tag
def node_link(run: Run, node: str) -> SafeString:
    """Link a node to its page in this run."""
    return _link(reverse("planner:run-node", args=[run.pk, node]), node) if node else soft("–")


@register.filter
def subject_linked(subject: str) -> SafeString:
    """Return the subject of an event; the id of an object with a page becomes a link with its first letters.

    >>> subject_linked("run 18cbb2ef-2c78-4854-ad38-a714385114fe for the review")
    'run <a href="/runs/18cbb2ef-2c78-4854-ad38-a714385114fe/">18cbb2ef</a> for the review'
    >>> subject_linked("scenario 18cbb2ef-2c78-4854-ad38-a714385114fe: nodes as CSV")
    'scenario <a href="/scenarios/18cbb2ef-2c78-4854-ad38-a714385114fe/">18cbb2ef</a>: nodes as CSV'
    >>> subject_linked("wait targets of a")
    'wait targets of a'
    """
    found = _NAMED.search(subject)
    if found is None:
        return format_html("{}", subject)
    link = _link(reverse(_PAGES[found[1]], args=[found[2]]), found[2][:8])
    return format_html("{}{}{}", subject[: found.start(2)], link, subject[found.end(2) :])


@register.filter
def unblock_address(job: str, run: Run) -> str:
    """Return the address of the search for what would unblock a job of a run."""
    return reverse("planner:run-job-unblock", args=[run.pk, *job.split("/", 1)])


def _help(fragment: str, name: str) -> SafeString:
    address = f"{reverse('planner:glossary')}#{fragment}"
    return format_html('<a class="help" href="{}" aria-label="What is {}?"></a>', address, name)


def _link(address: str, text: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, text)
