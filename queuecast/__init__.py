"""The command line for scripts and for CI: what would Volcano decide? Without Django, without a server."""
