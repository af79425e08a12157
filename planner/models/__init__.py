"""What is kept?"""

from planner.models.access import Event, Identity, Invitation, TokenDetails
from planner.models.idempotency import IdempotencyKey
from planner.models.imports import Import, ImportPreview
from planner.models.link import PublicLink
from planner.models.logins import LoginGuesses
from planner.models.outcome import JobOutcome, Outcome, QueueOutcome, Victim
from planner.models.queue import Queue
from planner.models.run import Run
from planner.models.scenario import Change, ObjectChange, Scenario, ScenarioCopy
from planner.models.second_factor import RecoveryCode, SecondFactor
from planner.models.session import Session
from planner.models.snapshot import Blob, Cluster, Snapshot
from planner.models.tally import Tally
from planner.models.trace import Trace
from planner.models.user import User
from planner.models.work import Work
from planner.models.worker import Worker
from planner.models.workspace import Membership, Role, Workspace

__all__ = [
    "Blob",
    "Change",
    "Cluster",
    "Event",
    "IdempotencyKey",
    "Identity",
    "Import",
    "ImportPreview",
    "Invitation",
    "JobOutcome",
    "LoginGuesses",
    "Membership",
    "ObjectChange",
    "Outcome",
    "PublicLink",
    "Queue",
    "QueueOutcome",
    "RecoveryCode",
    "Role",
    "Run",
    "Scenario",
    "ScenarioCopy",
    "SecondFactor",
    "Session",
    "Snapshot",
    "Tally",
    "TokenDetails",
    "Trace",
    "User",
    "Victim",
    "Work",
    "Worker",
    "Workspace",
]
