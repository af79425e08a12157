"""Screenshots of every page, also for axe: ``python -m tests.e2e.tour [PAGE…]`` writes var/pages."""

import gzip
import json
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FloatRect, Locator, Page, ViewportSize

from planner.clusters.sample import sample_document
from tests.e2e.product import Product, chromium, open_sample, product

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "var" / "pages"
KEPT = ROOT / "docs" / "pages"
"""The six pictures that are in git."""
WIDTHS = {"wide": 1400, "narrow": 390}
TALLEST = 2200
THEMES = ("light", "dark")
PAGES = {
    "login": "login",
    "login-code": "login-code",
    "home": "planner:home",
    "import": "planner:import",
    "import-problems": "planner:import",
    "import-large": "planner:import-detail",
    "scenario": "planner:scenario-detail",
    "scenario-edit": "planner:queue",
    "scenario-reach": "planner:reach",
    "scenario-new": "planner:queues",
    "scenario-removal": "planner:queue-remove",
    "scenario-conf": "planner:conf",
    "scenario-nodes": "planner:nodes",
    "scenario-workloads": "planner:workloads",
    "scenario-workload": "planner:workload",
    "scenario-changes": "planner:changes",
    "scenario-revision": "planner:revision",
    "scenario-carry-over": "planner:carry-over",
    "scenario-rebase": "planner:rebase-detail",
    "scenario-export": "planner:export",
    "run": "planner:run-detail",
    "run-queue": "planner:run-queue",
    "run-job": "planner:run-job",
    "run-waiting": "planner:run-job-unblock",
    "run-victim": "planner:run-victim",
    "run-flow": "planner:run-flow",
    "run-step": "planner:run-step",
    "run-pod": "planner:run-pod",
    "run-node": "planner:run-node",
    "run-jobs": "planner:run-jobs",
    "run-victims": "planner:run-victims",
    "run-decisions": "planner:run-decisions",
    "run-nodes": "planner:run-nodes",
    "run-fit": "planner:run-fit",
    "run-upgrade": "planner:run-upgrade",
    "compare": "planner:compare",
    "compare-none": "planner:compare",
    "share": "planner:share",
    "shared": "planner:shared",
    "traces": "planner:traces",
    "trace": "planner:trace",
    "scenario-forecasts": "planner:scenario-forecasts",
    "forecast": "planner:forecast",
    "forecast-moment": "planner:forecast-moment",
    "forecast-compare": "planner:forecast-compare",
    "experiments": "planner:experiments",
    "scenario-experiments": "planner:scenario-experiments",
    "experiment": "planner:experiment",
    "experiment-search": "planner:experiment",
    "experiment-seeds": "planner:experiment",
    "account": "planner:account",
    "security": "planner:security",
    "members": "planner:members",
    "storage": "planner:storage",
    "delete-run": "planner:run-delete",
    "delete-snapshot": "planner:snapshot-delete",
    "delete-cluster": "planner:cluster-delete",
    "delete-workspace": "planner:workspace-delete",
    "delete-account": "planner:account-delete",
    "history": "planner:history",
    "invitation": "planner:invitation",
    "status": "planner:status",
    "glossary": "planner:glossary",
    "search": "planner:search",
    "error-400": None,
    "error-403": None,
    "error-403-csrf": None,
    "error-404": None,
    "error-500": None,
}
"""Every screenshot with its route; error pages have no route."""
ERRORS = {
    "error-400": "400.html",
    "error-403": "403.html",
    "error-403-csrf": "403_csrf.html",
    "error-500": "500.html",
}
"""Error pages without an address: they are rendered as on the server and served to the browser."""
OF_STRANGERS = ("login", "login-code", "shared", "invitation")
"""Pages that need no session."""
BROKEN = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
  name: product
spec:
  weight: 3
---
apiVersion: v1
kind: Pod
metadata:
  namespace: ads
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
"""


CAREFUL, PASSWORD = "careful", "a-long-test-password"
HORIZON = 4 * 3600
"""How long forecasts are, in seconds: long enough for more findings than a page shows at first."""
UNFINISHED = ("queued", "running")


class Tour:
    """The sample, run twice: before and after raising the weight of a queue."""

    def __init__(self, running: Product, browser: Browser) -> None:
        self._running = running
        self._browser = browser
        self._tabs: dict[tuple[int, str], Page] = {}
        with self._window(1400, "light") as page:
            running.log_in(page)
            self._cookies = page.context.cookies()
            self._addresses = self._prepare(page)

    @contextmanager
    def visit(self, name: str, *, width: int, theme: str) -> Iterator[Page]:
        """Open a page, in a new anonymous window or in a tab that stays open."""
        with self._window(width, theme) if name in OF_STRANGERS else self._tab(width, theme) as page:
            if name in ERRORS:
                answer = {"body": self._rendered(ERRORS[name]), "content_type": "text/html"}
                page.route(self._addresses[name], lambda route: route.fulfill(**answer))
            page.goto(self._addresses[name])
            if name == "login-code":
                page.get_by_label("User name").fill(CAREFUL)
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Log in").click()
                page.get_by_label("Code").wait_for()
            if name == "import-problems":
                page.get_by_label("Or paste the text").fill(BROKEN)
                page.get_by_role("button", name="Preview").click()
                page.get_by_role("alert").wait_for()
            if name == "compare":
                page.locator(".chart .main-svg").first.wait_for()
            if name in ("forecast", "trace"):
                page.locator(".over-time .main-svg").first.wait_for()
            if name.startswith("experiment-") or name == "experiment":
                page.locator(".experiment__chart .main-svg").first.wait_for()
            yield page

    @cache  # noqa: B019 - a tour ends with its module
    def _rendered(self, template: str) -> str:
        return str(self._running.installation.drive("rendered", template))

    @contextmanager
    def _window(self, width: int, theme: str) -> Iterator[Page]:
        size = {"width": width, "height": 900}
        with self._browser.new_context(viewport=size, color_scheme=theme) as context:
            yield context.new_page()

    @contextmanager
    def _tab(self, width: int, theme: str) -> Iterator[Page]:
        """Reuse the tab of this width and theme: its process and the shared assets are loaded once."""
        size = ViewportSize(width=width, height=900)
        if (width, theme) not in self._tabs:
            window = self._browser.new_context(viewport=size, color_scheme=theme)
            window.add_cookies(self._cookies)
            self._tabs[width, theme] = window.new_page()
        page = self._tabs[width, theme]
        page.set_viewport_size(size)
        yield page
        page.unroute_all()

    def _prepare(self, page: Page) -> dict[str, str]:
        home = self._running.address
        open_sample(page)
        scenario = page.url
        before = self._run(page)
        page.goto(f"{scenario}queues/agents/?edit")
        page.get_by_label("Weight of agents").fill("6")
        page.keyboard.press("Enter")
        page.get_by_text("revision 2").wait_for()
        after = self._run(page)
        victim = page.get_by_role("region", name="Victims").locator("tbody tr").first
        waiting = page.get_by_role("region", name="Waiting jobs").locator("tbody th a").first
        newer = self._newer_snapshot(before)
        addresses = {
            "login": f"{home}login/",
            "login-code": f"{home}login/",
            "security": f"{home}account/security/",
            "home": home,
            "import": f"{home}import/",
            "import-problems": f"{home}import/",
            "import-large": self._large_import(),
            "scenario": scenario,
            "scenario-edit": f"{scenario}queues/agents/?edit",
            "scenario-reach": f"{scenario}reach/?figure=deserved&queue=agents&resource=cpu&at_least=900",
            "scenario-new": f"{scenario}queues/?new&parent=research",
            "scenario-removal": f"{scenario}queues/research/remove/",
            "scenario-conf": f"{scenario}conf/",
            "scenario-export": f"{scenario}export/",
            "scenario-nodes": f"{scenario}nodes/",
            "scenario-workloads": f"{scenario}workloads/?waits=yes",
            "scenario-workload": f"{scenario}workloads/podgroups/agents/train-planner/",
            "scenario-changes": f"{scenario}changes/",
            "scenario-revision": f"{scenario}revisions/2/",
            "scenario-carry-over": f"{scenario}carry-over/?snapshot={newer}",
            "scenario-rebase": self._rebase(scenario, newer),
            "run": page.url,
            "run-queue": self._leads(victim.locator("td a").nth(4)),
            "run-job": self._leads(victim.locator("td a").nth(0)),
            "run-waiting": self._leads(waiting),
            "run-victim": self._leads(victim.locator("th a")),
            "run-flow": f"{page.url}flow/",
            "run-step": self._leads(victim.locator("th a")).replace("/victims/", "/steps/"),
            "run-pod": self._leads(victim.locator("td a").nth(3)),
            "run-node": self._leads(victim.locator("td a").nth(2)),
            "run-jobs": f"{page.url}jobs/?by=gate&pending=true",
            "run-victims": f"{page.url}victims/?ordering=-queue",
            "run-decisions": f"{page.url}decisions/?op=evict",
            "run-nodes": f"{page.url}nodes/?requests.cpu=4",
            "run-fit": f"{page.url}fit/",
            "run-upgrade": f"{page.url}upgrade/?from=v1.14.4&to=v1.15.1",
            "compare": f"{home}compare/?runs={before},{after}",
            "compare-none": f"{home}compare/?runs={after}",
            "account": f"{home}account/",
            "status": f"{home}status/",
            "glossary": f"{home}glossary/",
            "search": f"{home}search/?q=agents",
            "error-404": f"{home}runs/{uuid.UUID(int=0)}/",
            **{name: f"{home}fails/{name}/" for name in ERRORS},
        }
        addresses |= self._forecasts(scenario)
        addresses |= self._experiments(scenario)
        self._search(page, addresses["run-waiting"])
        self._fit(page, addresses["run-fit"])
        self._upgrade(page, addresses["run-upgrade"])
        addresses |= self._share(page, f"{home}runs/{after}/share/", addresses["account"])
        return addresses | self._deletions(home, after, addresses["members"])

    def _deletions(self, home: str, run: str, members: str) -> dict[str, str]:
        """Return the pages that confirm a deletion, and the page about storage."""
        snapshot, cluster = self._running.installation.drive("origin", run)
        workspace = members.removesuffix("members/")
        return {
            "storage": f"{workspace}storage/",
            "delete-run": f"{home}runs/{run}/delete/",
            "delete-snapshot": f"{home}snapshots/{snapshot}/delete/",
            "delete-cluster": f"{home}clusters/{cluster}/delete/",
            "delete-workspace": f"{workspace}delete/",
            "delete-account": f"{home}account/delete/",
        }

    def _share(self, page: Page, share: str, account: str) -> dict[str, str]:
        """Create the objects on the pages about sharing and members: a link, a token, an invitation."""
        page.goto(share)
        page.get_by_role("button", name="Create public link").click()
        shared = page.get_by_role("status").locator("code").inner_text()
        page.goto(account)
        page.get_by_label("Name", exact=True).first.fill("nightly report")
        page.get_by_role("button", name="Create token").click()
        members = self._leads(page.get_by_role("main").get_by_role("link", name="members"))
        page.goto(members)
        page.get_by_role("button", name="Invite", exact=True).click()
        invitation = page.get_by_role("status").locator("code").inner_text()
        page.goto(f"{account}security/")
        page.get_by_role("button", name="Set up a second factor").click()
        page.get_by_label("Code").wait_for()
        self._running.installation.drive("create_account_with_second_factor", CAREFUL, PASSWORD)
        return {
            "share": share, "shared": shared, "members": members, "invitation": invitation,
            "history": members.replace("/members/", "/history/"),
        }  # fmt: skip

    def _large_import(self) -> str:
        """Import a file padded with blank lines for a worker; return the address of the import's page."""
        text = json.dumps(sample_document()).encode() + b"\n" * 20_000_000
        file = {"name": "production.json.gz", "mimeType": "application/gzip", "buffer": gzip.compress(text)}
        headers = {"Authorization": f"Token {self._running.token()}", "Prefer": "wait=30"}
        address = f"{self._running.address}api/v1/snapshots/"
        with self._window(1400, "light") as stranger:
            sent = stranger.request.post(address, headers=headers, multipart={"files": file}, timeout=60_000)
            return f"{self._running.address}imports/{sent.json()['id']}/"

    def _rebase(self, scenario: str, snapshot: str) -> str:
        """Return the address of a rebase that a worker has finished."""
        of = scenario.rstrip("/").rpartition("/")[2]
        rebase = self._running.installation.drive("queue_rebase", of, snapshot)
        return f"{self._running.address}rebases/{rebase}/"

    def _forecasts(self, scenario: str) -> dict[str, str]:
        """Forecast four hours of the sample, before and after changes while jobs run twice as long."""
        home, api = self._running.address, f"{self._running.address}api/v1/"
        headers = {"Authorization": f"Token {self._running.token()}", "Prefer": "wait=30"}
        patterns = [
            {
                "queue": queue,
                "jobs_per_hour": 8,
                "run_median": 2400,
                "requests": {"cpu": "16", "memory": "64Gi"},
            }
            for queue in ("analytics", "ci", "serving")
        ]
        drawn = {"patterns": patterns, "seconds": HORIZON, "seed": 1}
        id_of = scenario.rstrip("/").rpartition("/")[2]
        at = f"{api}scenarios/{id_of}/"
        options = {"horizon_seconds": HORIZON, "period_seconds": 10, "default_run_seconds": 7200}
        changes = [
            {"at": "1h", "queue": "analytics", "set": {"weight": 5}},
            {"at": "2h", "queue": "ci", "state": "closed"},
        ]
        with self._window(1400, "light") as script:

            def made(address: str, body: Any) -> str:
                return str(
                    script.request.post(address, headers=headers, data=body, timeout=60_000).json()["id"]
                )

            trace = made(f"{api}traces/", {"name": "an afternoon", "generate": drawn})
            script.request.patch(
                f"{at}targets/", headers=headers, data={"targets": {"analytics": 60, "ci": 5}}
            )

            def forecast(**more: Any) -> str:
                begun = made(f"{at}forecasts/", {"trace": trace, **options, **more})
                page = f"{api}forecasts/{begun}/"
                while (state := script.request.get(page, headers=headers).json()["state"]) in UNFINISHED:
                    script.wait_for_timeout(300)
                assert state == "succeeded", f"the forecast {state}"
                return begun

            before, after = forecast(), forecast(run_time=2, changes=changes)
        return {
            "traces": f"{home}traces/",
            "trace": f"{home}traces/{trace}/",
            "scenario-forecasts": f"{scenario}forecasts/",
            "forecast": f"{home}forecasts/{before}/",
            "forecast-moment": f"{home}forecasts/{before}/moment/?at=3600",
            "forecast-compare": f"{home}forecasts/compare/?forecasts={before}&forecasts={after}",
        }

    def _experiments(self, scenario: str) -> dict[str, str]:
        """Sweep two settings of the sample, and search for the smallest change after which no pod waits."""
        home, api = self._running.address, f"{self._running.address}api/v1/experiments/"
        headers = {"Authorization": f"Token {self._running.token()}"}
        settings = [
            {"queue": "agents", "field": "weight", "values": [2, 4]},
            {"like": "gpu-h100-01", "range": {"from": 1, "to": 2, "step": 1}, "price": 5},
        ]
        figures = [
            {"figure": "waiting_pods", "queue": "agents", "better": "less"},
            {"figure": "evictions", "better": "less"},
            {"figure": "deserved", "queue": "agents", "resource": "nvidia.com/gpu"},
        ]
        goals = [{"figure": "waiting_pods", "queue": "agents", "at_most": 0}]
        payload = {"scenario": scenario.rstrip("/").rpartition("/")[2], "settings": settings}
        with self._window(1400, "light") as script:

            def made(body: Any) -> str:
                begun = script.request.post(api, headers=headers, data={**payload, **body}).json()["id"]
                while script.request.get(f"{api}{begun}/", headers=headers).json()["state"] == "running":
                    script.wait_for_timeout(300)
                return str(begun)

            swept = made({"name": "weight and nodes of agents", "figures": figures})
            searched = made({"name": "until agents run", "goals": goals})
            work = {"queue": "analytics", "jobs_per_hour": 6, "run_median": 1200, "requests": {"cpu": "16"}}
            forecast = {
                "patterns": [work],
                "horizon_seconds": 3600,
                "period_seconds": 60,
                "seeds": 2,
                "unseen_seeds": 2,
            }
            levels = [{"queue": "analytics", "field": "deserved", "resource": "cpu", "values": ["96", "192"]}]
            waits = [{"figure": "wait_p95", "queue": "analytics", "at_most": "1h"}]
            seeded = made({"name": "over seeds", "forecast": forecast, "settings": levels, "goals": waits})
        return {
            "experiments": f"{home}experiments/",
            "scenario-experiments": f"{scenario}experiments/",
            "experiment": f"{home}experiments/{swept}/",
            "experiment-search": f"{home}experiments/{searched}/",
            "experiment-seeds": f"{home}experiments/{seeded}/",
        }

    def _newer_snapshot(self, run: str) -> str:
        """Import the sample again, with weight 3 for queue agents; return the snapshot's id."""
        api = f"{self._running.address}api/v1/"
        headers = {"Authorization": f"Token {self._running.token()}"}
        with self._window(1400, "light") as stranger:
            cluster = stranger.request.get(f"{api}runs/{run}/input/", headers=headers).json()
            for queue in cluster["queues"]:
                if queue["metadata"]["name"] == "agents":
                    queue["spec"]["weight"] = 3
            body = {"name": cluster["name"], "scenario": cluster}
            return str(stranger.request.post(f"{api}snapshots/", headers=headers, data=body).json()["id"])

    def _search(self, page: Page, job: str) -> None:
        page.goto(job)
        page.get_by_role("button", name="Search for changes").click()
        page.get_by_role("heading", name="Why reclaim").wait_for(timeout=120_000)

    def _fit(self, page: Page, fit: str) -> None:
        page.goto(fit)
        page.locator("select[name=queue]").select_option("agents")
        page.get_by_role("textbox", name="CPU").fill("4")
        page.get_by_role("button", name="Check every node").click()
        page.get_by_text("It fits on").wait_for(timeout=60_000)

    def _upgrade(self, page: Page, impact: str) -> None:
        page.goto(impact)
        page.get_by_role("button", name="Compare releases").click()
        page.get_by_role("heading", name="Volcano v1.14.4 to v1.15.1").wait_for(timeout=120_000)

    def _leads(self, link: Locator) -> str:
        """Return the absolute address of a link."""
        return self._running.address.rstrip("/") + str(link.get_attribute("href"))

    def _run(self, page: Page) -> str:
        """Run the open scenario; return the run's id."""
        page.get_by_role("button", name="Run this scenario").click()
        page.get_by_role("heading", name="Victims").wait_for(timeout=60_000)
        return page.url.rstrip("/").rpartition("/")[2]


def take_pictures(names: Sequence[str]) -> None:
    """Take screenshots of these pages, wide and narrow, light and dark."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, product(Path(folder)) as running, chromium() as browser:
        tour = Tour(running, browser)
        for name in names:
            for size, width in WIDTHS.items():
                for theme in THEMES:
                    with tour.visit(name, width=width, theme=theme) as page:
                        page.wait_for_timeout(400)
                        path = PICTURES / f"{name}-{size}-{theme}.png"
                        height = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
                        shown = FloatRect(x=0, y=0, width=width, height=height)
                        page.screenshot(path=path, full_page=True, clip=shown, caret="initial")
        with tour.visit("run", width=1400, theme="light") as page:
            page.wait_for_timeout(400)
            page.screenshot(path=PICTURES / "readme.png")


def keep_pictures() -> None:
    """Update the screenshots in git: one screen for the README, and five pages."""
    for kept in KEPT.glob("*.png"):
        shutil.copyfile(PICTURES / kept.name, kept)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    if unknown := set(chosen) - set(PAGES):
        sys.exit(f"no such page: {', '.join(sorted(unknown))}; pages are {', '.join(PAGES)}")
    take_pictures(chosen or list(PAGES))
    if not chosen:
        keep_pictures()
