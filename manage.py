#!/usr/bin/env python
"""The project's commands: `manage.py up`, `manage.py token`, and Django's own."""

import os
import sys

from django.core.management import execute_from_command_line

from config.start import obstacle

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        if (reason := obstacle(error)) is None:
            raise
        sys.exit(reason)
