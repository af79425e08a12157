"""All models of the app `planner`."""

from planner.accounts.models.access import Event, Identity, Invitation, TokenDetails
from planner.accounts.models.logins import LoginGuesses
from planner.accounts.models.second_factor import RecoveryCode, SecondFactor
from planner.accounts.models.session import Session
from planner.accounts.models.user import User
from planner.accounts.models.workspace import Membership, Role, Workspace
from planner.api.models import IdempotencyKey
from planner.backups.models import Backup
from planner.clusters.models.imports import Import, ImportPreview
from planner.clusters.models.snapshot import Blob, Cluster, Snapshot
from planner.experiments.models.experiment import Experiment, ExperimentGroup
from planner.forecasts.models.backtest import Backtest
from planner.forecasts.models.forecast import Forecast, ForecastPart
from planner.forecasts.models.prices import NodePrices
from planner.forecasts.models.target import WaitTarget
from planner.forecasts.models.trace import WorkloadTrace
from planner.runs.models.link import PublicLink
from planner.runs.models.outcome import JobOutcome, Outcome, QueueOutcome, Victim
from planner.runs.models.run import Run
from planner.runs.models.trace import Trace
from planner.scenarios.models.queue import Queue
from planner.scenarios.models.rebase import Rebase
from planner.scenarios.models.scenario import Change, ObjectChange, Scenario, ScenarioCopy
from planner.work.models.tally import Tally
from planner.work.models.work import Work
from planner.work.models.worker import Worker

__all__ = [
    "Backtest",
    "Backup",
    "Blob",
    "Change",
    "Cluster",
    "Event",
    "Experiment",
    "ExperimentGroup",
    "Forecast",
    "ForecastPart",
    "IdempotencyKey",
    "Identity",
    "Import",
    "ImportPreview",
    "Invitation",
    "JobOutcome",
    "LoginGuesses",
    "Membership",
    "NodePrices",
    "ObjectChange",
    "Outcome",
    "PublicLink",
    "Queue",
    "QueueOutcome",
    "Rebase",
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
    "WaitTarget",
    "Work",
    "Worker",
    "WorkloadTrace",
    "Workspace",
]
