"""What does somebody see who opens an invitation's link?"""

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from planner.accounts.services.invitations import account_by_invitation, invitation_accept, invitation_of
from planner.errors import Invalid
from planner.web.views.pages import caller

GONE, INVALID = 410, 422


@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show where one is invited to; join, with the present account or with a new one."""
    invited = invitation_of(secret=secret)
    if invited is None:
        return render(request, "accounts/invitation.html", {}, status=GONE)
    username = request.POST.get("username", "").strip()
    context = {"invitation": invited, "username": username}
    if request.method == "GET":
        return render(request, "accounts/invitation.html", context)
    try:
        _join(request, secret, username)
    except Invalid as error:
        return render(
            request, "accounts/invitation.html", {**context, "problems": error.problems}, status=INVALID
        )
    messages.success(request, f"You are a member of {invited.workspace} now.")
    return redirect("planner:home")


def _join(request: HttpRequest, secret: str, username: str) -> None:
    if request.user.is_authenticated:
        invitation_accept(secret=secret, user=caller(request))
        return
    password = request.POST.get("password", "")
    account = account_by_invitation(secret=secret, username=username, password=password)
    login(request, account)
