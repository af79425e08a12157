"""The URLs of all pages and API calls."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from planner.accounts import urls as accounts
from planner.accounts.views import logging_in, login, sign_on
from planner.clusters import urls as clusters
from planner.experiments import urls as experiments
from planner.forecasts import urls as forecasts
from planner.runs import urls as runs
from planner.scenarios import urls as scenarios
from planner.upgrades.urls import urlpatterns as upgrades
from planner.web import urls as web

pages = [
    *web.pages,
    *clusters.pages,
    *scenarios.pages,
    *runs.pages,
    *upgrades,
    *forecasts.pages,
    *experiments.pages,
    *accounts.pages,
]

urlpatterns = [
    path("", include((pages, "planner"))),
    path("login/", login.Login.as_view(), name="login"),
    path("login/code/", logging_in.code, name="login-code"),
    path("login/sign-on/", sign_on.begin, name="sign-on"),
    path("login/sign-on/back/", sign_on.back, name="sign-on-back"),
    path("logout/", login_not_required(LogoutView.as_view()), name="logout"),
    path("api/v1/", include("planner.api.urls")),
]
