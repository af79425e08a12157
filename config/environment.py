"""What does the environment of a process say?"""

import environ

env = environ.FileAwareEnv()
"""A variable NAME may also be given as NAME_FILE, the file that holds its value."""
PRODUCTION = env.bool("QUEUECAST_PRODUCTION", default=False)
"""A server for others: the secret must be given, cookies travel over HTTPS only."""
