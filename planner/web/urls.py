"""The URLs of the pages of all features."""

from django.urls import path

from planner.web.views import glossary, home, search, status

pages = [
    path("", home.home, name="home"),
    path("sample/", home.sample, name="sample"),
    path("status/", status.show, name="status"),
    path("search/", search.find, name="search"),
    path("glossary/", glossary.glossary, name="glossary"),
]
