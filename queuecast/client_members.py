"""Client calls about the sample, workspaces and members."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from queuecast.backend import Json
from queuecast.connection import Connection
from queuecast.problems import Refused, unknown


class Members(Connection):
    """Calls about workspaces, members and invitations; name a workspace if the caller has several."""

    def sample_open(self) -> Json:
        """Import the sample cluster unless it exists; return its scenario."""
        return dict(self.server.call("POST", "sample/").json)

    def workspaces(self) -> list[Json]:
        """Return the workspaces of the token's owner, with its role."""
        return list(self.server.rows("workspaces/"))

    def workspace_create(self, name: str) -> Json:
        """Create a workspace with the caller as its admin; return it."""
        return dict(self.server.call("POST", "workspaces/", {"name": name}).json)

    def workspace_rename(self, workspace: str, name: str) -> Json:
        """Rename a workspace; return it."""
        return dict(self.server.call("PATCH", self._workspace(workspace), {"name": name}).json)

    def workspace_history(self, workspace: str = "") -> list[Json]:
        """Return actions on members, tokens, invitations, links, prices and scenarios, newest first."""
        return list(self.server.rows(f"{self._workspace(workspace)}history/"))

    def workspace_changes(self, workspace: str = "") -> list[Json]:
        """Return the changes of all scenarios, including removed ones, newest first."""
        return list(self.server.rows(f"{self._workspace(workspace)}changes/"))

    def prices(self, workspace: str = "") -> Json:
        """Return the prices of a workspace per hour: `pools`, `resources`, `currency`."""
        return dict(self.server.get(f"{self._workspace(workspace)}prices/"))

    def prices_set(self, prices: Mapping[str, Any], workspace: str = "") -> Json:
        """Replace the prices of a workspace; return them."""
        return dict(self.server.call("PUT", f"{self._workspace(workspace)}prices/", dict(prices)).json)

    def members(self, workspace: str = "") -> list[Json]:
        """Return the members of a workspace, with their roles."""
        return list(self.server.rows(f"{self._workspace(workspace)}members/"))

    def member_set(self, username: str, role: str, workspace: str = "") -> Json:
        """Change the role of a member, or invite an account; return it."""
        path = f"{self._workspace(workspace)}members/{quote(username, safe='')}/"
        return dict(self.server.call("PUT", path, {"role": role}).json)

    def member_remove(self, username: str, workspace: str = "") -> None:
        """Remove a member, with the invitations that it created."""
        self.server.call("DELETE", f"{self._workspace(workspace)}members/{quote(username, safe='')}/")

    def invitations(self, workspace: str = "") -> list[Json]:
        """Return the open invitations of a workspace, newest first, without their links."""
        return list(self.server.rows(f"{self._workspace(workspace)}invitations/"))

    def invitation_create(self, role: str, workspace: str = "") -> Json:
        """Create an invitation link for one person; its address is returned only once."""
        path = f"{self._workspace(workspace)}invitations/"
        return dict(self.server.call("POST", path, {"role": role}).json)

    def invitation_revoke(self, invitation: str, workspace: str = "") -> None:
        """Revoke an open invitation, by its id."""
        self.server.call("DELETE", f"{self._workspace(workspace)}invitations/{quote(invitation, safe='')}/")

    def offers(self) -> list[Json]:
        """Return the invitations that name the caller, newest first."""
        return list(self.server.rows("invitations/"))

    def offer_accept(self, offer: str) -> None:
        """Accept an invitation that names the caller, by its id or its workspace."""
        self.server.call("POST", f"{self._offer(offer)}accept/")

    def offer_decline(self, offer: str) -> None:
        """Decline an invitation that names the caller: by its id or its workspace."""
        self.server.call("DELETE", self._offer(offer))

    def _offer(self, name: str) -> str:
        held = self.offers()
        found = next((one["id"] for one in held if name in (str(one["id"]), one["workspace"])), None)
        if found is None:
            raise unknown("invitation", name, (one["workspace"] for one in held))
        return f"invitations/{found}/"

    def _workspace(self, name: str) -> str:
        """Return the address of a workspace: the one of this name, or the only one."""
        if name:
            return f"workspaces/{self._id('workspaces', name)}/"
        held = self.workspaces()
        if len(held) != 1:
            names = ", ".join(one["name"] for one in held)
            raise Refused(f"Name a workspace: {names}.", code="workspace_missing")
        return f"workspaces/{held[0]['id']}/"
