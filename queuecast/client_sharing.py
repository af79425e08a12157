"""Client calls about public links, bundles and tokens."""

from urllib.parse import quote

from queuecast.backend import Json
from queuecast.connection import Connection
from queuecast.problems import unknown


class Sharing(Connection):
    """Calls about public links, bundles and tokens."""

    def run_cancel(self, run: str) -> Json:
        """Cancel a queued run immediately, request a running one to stop; return it."""
        return dict(self.server.call("POST", f"{self._run(run)}cancel/").json)

    def links(self, run: str) -> list[Json]:
        """Return the public links of a run, newest first, without their addresses."""
        return list(self.server.rows(f"{self._run(run)}links/"))

    def link_create(self, run: str, *, label: str = "", days: int = 30) -> Json:
        """Create a public link to a run; its address is returned only once."""
        return dict(self.server.call("POST", f"{self._run(run)}links/", {"label": label, "days": days}).json)

    def link_revoke(self, run: str, link: str) -> None:
        """Revoke a public link, by its id or its label."""
        held = self.links(run)
        found = next((one["id"] for one in held if link in (one["id"], one["label"])), None)
        if found is None:
            raise unknown("link", link, (one["label"] or one["id"] for one in held), where="of this run")
        self.server.call("DELETE", f"{self._run(run)}links/{found}/")

    def bundle(self, run: str) -> bytes:
        """Return a run as one file."""
        return self.server.call("GET", f"{self._run(run)}bundle/", headers={"Accept": "*/*"}).body

    def bundle_import(self, name: str, content: bytes) -> Json:
        """Store a bundle's cluster and repeat its run; a large one is read by the import `imported_by`."""
        return dict(self.server.upload("bundles/", {}, [(name, content)], field="file").json)

    def tokens(self) -> list[Json]:
        """Return the caller's tokens: scope, expiry, last use."""
        return list(self.server.rows("tokens/"))

    def token_create(self, *, scope: str, name: str = "", days: int | None = None) -> Json:
        """Create a token; its text is returned only once."""
        body = {"scope": scope, "name": name, **({} if days is None else {"days": days})}
        return dict(self.server.call("POST", "tokens/", body).json)

    def token_revoke(self, token: str) -> None:
        """Revoke a token, and those created with it, by its id or its name."""
        held = self.tokens()
        found = next((one["id"] for one in held if token in (one["id"], one["name"])), None)
        if found is None:
            raise unknown("token", token, (one["name"] or one["id"] for one in held))
        self.server.call("DELETE", f"tokens/{quote(found, safe='')}/")
