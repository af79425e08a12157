"""The URLs of the pages of accounts."""

from django.urls import path

from planner.accounts.views import account, deletion, invitations, members, security, workspaces

pages = [
    path("account/", account.account, name="account"),
    path("account/security/", security.security, name="security"),
    path("account/password/", security.password, name="password"),
    path("account/sessions/", security.sessions, name="sessions"),
    path("account/second-factor/", security.second_factor, name="second-factor"),
    path("account/delete/", deletion.account, name="account-delete"),
    path("account/tokens/", account.token_create, name="token-create"),
    path("account/tokens/<str:token_key>/", account.token_drop, name="token-revoke"),
    path("account/invitations/<uuid:invitation_id>/", account.offer, name="offer"),
    path("workspaces/", workspaces.make, name="workspace-make"),
    path("workspaces/<uuid:workspace_id>/switch/", workspaces.switch, name="workspace-switch"),
    path("workspaces/<uuid:workspace_id>/rename/", workspaces.rename, name="workspace-rename"),
    path("workspaces/<uuid:workspace_id>/leave/", workspaces.leave, name="workspace-leave"),
    path("members/", members.here, name="members-here"),
    path("workspaces/<uuid:workspace_id>/members/", members.members, name="members"),
    path("workspaces/<uuid:workspace_id>/members/<str:username>/", members.member, name="member"),
    path("workspaces/<uuid:workspace_id>/invitations/", members.invite, name="invite"),
    path(
        "workspaces/<uuid:workspace_id>/invitations/<uuid:invitation_id>/", members.uninvite, name="uninvite"
    ),
    path("workspaces/<uuid:workspace_id>/history/", members.history, name="history"),
    path("invitations/<str:secret>/", invitations.invitation, name="invitation"),
]
