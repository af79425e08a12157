"""Commands of `manage.py` with wrong arguments: a clear error, and nothing is saved or removed."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from planner.accounts.models import Membership, User, Workspace
from planner.runs.models import Run
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("days", ["-1", "nan", "inf", "99999999999"])
def test_data_is_kept_for_a_possible_number_of_days(days: str) -> None:
    scenario = factories.scenario()
    ended = timezone.now() - timedelta(days=1)
    for _ in range(2):
        Run.objects.filter(pk=factories.run(scenario).pk).update(state=Run.State.SUCCEEDED, finished=ended)
    with pytest.raises(CommandError, match=r"--days must be from 0 to 36,500\."):
        call_command("tidy", "--days", days)
    assert Run.objects.count() == 2


def test_member_that_is_no_account_gets_no_workspace() -> None:
    with pytest.raises(CommandError, match="There is no account 'nobody'"):
        call_command("member", "nobody", "viewer", "--workspace", "new")
    assert not Workspace.objects.filter(name="new").exists()


@pytest.mark.parametrize("name", ["a" * 101, "a\0b", "\u202egpj", ""])
def test_workspace_of_a_member_has_a_possible_name(name: str, editor: User) -> None:
    before = Workspace.objects.count()
    with pytest.raises(CommandError, match="name: "):
        call_command("member", "editor", "viewer", "--workspace", name)
    assert Workspace.objects.count() == before
    assert Membership.objects.filter(user=editor).count() == 1


@pytest.mark.parametrize("email", ["x", "a\0@example.org", f"{'a' * 250}@example.org"])
def test_member_with_a_wrong_email_address_is_not_changed(email: str, editor: User) -> None:
    with pytest.raises(CommandError):
        call_command("member", "editor", "viewer", "--email", email)
    assert Membership.objects.get(user=editor).role == "editor"
