"""What changes, and by which rule? Every write stands here; views, API and commands only call.

Services take keyword arguments and are named `<entity>_<action>`. What a user did wrong is raised as
`Invalid` (with a list of problems), `StaleRevision` (with both revisions) or `RoleTooLow`, see
`planner.services.errors`. Each takes the account that asks and checks its role; None is the installation
itself.

- `members.role_require`: may this account do that? `member_set`, `member_remove`: who is a member.
- `snapshots.snapshot_create`: keep imported objects.
- `scenarios.scenario_create`, `scenarios.conf_update`: a what-if and its scheduler configuration.
- `queues.queue_update`: a merge patch on one queue.
- `runs.run_create`, `runs.run_cancel`: ask for a run, ask it to stop. Interfaces start runs through
  `planner.tasks.submit_run`, which also sends the kick.
- `runs.run_claim`, `run_heartbeat`, `run_finish`, `run_fail`, `run_release`: a worker's steps, all fenced by
  the attempt number; each says whether the run was still this worker's.
- `execution.run_execute`: those steps in order, around the child process.
- `recovery.runs_recover`: expired leases and forgotten kicks.
"""
