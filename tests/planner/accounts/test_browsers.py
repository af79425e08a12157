"""The browser name that the list of sessions shows."""

import pytest

from planner.accounts.models.session import Session

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "browser"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/140.0.0.0 Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 15.6; rv:142.0) Gecko/20100101 Firefox/142.0",
            "Firefox on macOS",
        ),
        (f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) {WEBKIT} Safari/604.1", "Safari on iOS"),
        ("curl/8.14.1", "curl/8.14.1"),
        ("", ""),
    ],
)
def test_a_session_shows_its_browser_and_operating_system(agent: str, browser: str) -> None:
    assert Session(agent=agent).browser == browser
