"""Access to environment variables."""

import environ

env = environ.FileAwareEnv()
"""The suffix of variables that name a file with the value: NAME_FILE instead of NAME."""
PRODUCTION = env.bool("QUEUECAST_PRODUCTION", default=False)
"""A server for others: the secret is required, and cookies are sent over HTTPS only."""
