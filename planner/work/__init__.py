"""Background work: queued, claimed, executed in a child process, recovered."""
