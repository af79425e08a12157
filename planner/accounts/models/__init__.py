"""The models of accounts."""

from planner.accounts.models.access import Event, Identity, Invitation, TokenDetails
from planner.accounts.models.logins import LoginGuesses
from planner.accounts.models.second_factor import RecoveryCode, SecondFactor
from planner.accounts.models.session import Session
from planner.accounts.models.user import User
from planner.accounts.models.workspace import Membership, Role, Workspace

__all__ = [
    "Event",
    "Identity",
    "Invitation",
    "LoginGuesses",
    "Membership",
    "RecoveryCode",
    "Role",
    "SecondFactor",
    "Session",
    "TokenDetails",
    "User",
    "Workspace",
]
