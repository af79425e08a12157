"""Accounts, workspaces and their members, log-in, tokens and the audit."""
