"""The page behind an invitation link."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from planner.accounts.forms import JoinForm
from planner.accounts.services.invitations import account_by_invitation, invitation_accept, invitation_of
from planner.errors import Invalid
from planner.web.views.pages import INVALID, caller

GONE = 410


@login_not_required
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the workspace of an invitation; join with the current account or with a new one."""
    invited = invitation_of(secret=secret)
    if invited is None:
        return render(request, "accounts/invitation.html", {}, status=GONE)
    form = JoinForm(data=request.POST if request.method == "POST" else None)
    context = {"invitation": invited, "form": form}
    if request.method == "GET":
        return render(request, "accounts/invitation.html", context)
    try:
        if request.user.is_authenticated:
            invitation_accept(secret=secret, user=caller(request))
        else:
            login(request, account_by_invitation(secret=secret, **form.typed()))
    except Invalid as error:
        form.refuse(error.problems)
        return render(request, "accounts/invitation.html", context, status=INVALID)
    messages.success(request, f"You are now a member of {invited.workspace}.")
    return redirect("planner:home")
