"""The URLs of the API calls about accounts."""

from django.urls import path

from planner.accounts.api import accounts, workspaces

calls = [
    path("workspaces/", workspaces.WorkspaceList.as_view(), name="workspaces"),
    path("workspaces/<uuid:workspace_id>/", workspaces.WorkspaceDetail.as_view(), name="workspace"),
    path("workspaces/<uuid:workspace_id>/members/", workspaces.MemberList.as_view(), name="members"),
    path(
        "workspaces/<uuid:workspace_id>/members/<str:username>/",
        workspaces.MemberDetail.as_view(),
        name="member",
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations/", accounts.InvitationList.as_view(), name="invitations"
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations/<uuid:invitation_id>/",
        accounts.InvitationDetail.as_view(),
        name="invitation",
    ),
    path("invitations/", accounts.OfferList.as_view(), name="offers"),
    path("invitations/<uuid:invitation_id>/", accounts.OfferDetail.as_view(), name="offer"),
    path("invitations/<uuid:invitation_id>/accept/", accounts.OfferAccept.as_view(), name="offer-accept"),
    path("workspaces/<uuid:workspace_id>/history/", accounts.History.as_view(), name="history"),
    path("sessions/", accounts.SessionList.as_view(), name="sessions"),
    path("sessions/<str:session>/", accounts.SessionDetail.as_view(), name="session"),
    path("logins/", accounts.LoginList.as_view(), name="logins"),
    path("tokens/", accounts.TokenList.as_view(), name="tokens"),
    path("tokens/<str:token_key>/", accounts.TokenDetail.as_view(), name="token"),
    path("account/", accounts.Account.as_view(), name="account"),
]
