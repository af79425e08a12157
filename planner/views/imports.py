"""How does a cluster come in through the browser?"""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_required
def import_cluster(request: HttpRequest) -> HttpResponse:
    """Show the form."""
    return render(request, "planner/import.html", {"place": "import", "typed": {}})


@login_required
def save(request: HttpRequest) -> HttpResponse:
    """Show the form."""
    return render(request, "planner/import.html", {"place": "import", "typed": {}})
