"""Sessions of browsers: Django's, with the account that each belongs to."""

import hashlib
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models

ORIGIN = "origin"
"""The session key for the time and origin of the log-in: `began`, `address`, `agent`."""
# By the first product or platform that a user agent mentions: Edge also mentions Chrome, and Chrome Safari.
_BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
_SYSTEMS = {
    "Windows": "Windows",
    "Android": "Android",
    "iPhone": "iOS",
    "iPad": "iOS",
    "Mac OS": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class Session(AbstractBaseSession):
    """A browser's session; `user` is None until a user logs in."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="sessions"
    )
    began = models.DateTimeField(null=True, help_text="When it logged in.")
    address = models.CharField(max_length=45, blank=True)
    agent = models.CharField(max_length=200, blank=True, help_text="The User-Agent header of the browser.")

    class Meta(AbstractBaseSession.Meta):
        db_table = "planner_session"

    @classmethod
    def get_session_store_class(cls) -> type["SessionStore"]:
        """Return the store of these sessions."""
        return SessionStore

    @property
    def name(self) -> str:
        """Return a name for lists, as the key itself would grant access."""
        return session_name(self.session_key)

    @property
    def browser(self) -> str:
        """Return the browser and the system of the user agent, the user agent itself if it names neither."""
        found = [
            next((name for token, name in names.items() if token in self.agent), "")
            for names in (_BROWSERS, _SYSTEMS)
        ]
        return " on ".join(filter(None, found)) or self.agent


class SessionStore(DatabaseStore):
    """Stores the account with each session."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """Return the model of the rows."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """Return the row of a session with this data."""
        session = cast(Session, super().create_model_instance(data))
        origin = data.get(ORIGIN, {})
        session.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        session.began = datetime.fromisoformat(origin["began"]) if origin else None
        session.address, session.agent = origin.get("address", ""), origin.get("agent", "")
        return session


def session_name(key: str | None) -> str:
    """Return the name of a session in lists."""
    return hashlib.sha256((key or "").encode()).hexdigest()[:16]
