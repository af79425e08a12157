"""What changes, and by which rule? Every write stands here; views, API and commands only call.

Services take keyword arguments and are named `<entity>_<action>`. What a user did wrong is raised as
`Invalid` (with a list of problems), `StaleRevision` (with both revisions) or `RoleTooLow`, see
`planner.services.errors`. Each takes the account that asks and checks its role; None is the installation
itself.

- `members.role_require`: may this account do that? `member_set`, `member_remove`: who is a member.
- `snapshots.snapshot_create`: keep imported objects.
- `scenarios.scenario_create`, `scenarios.conf_update`: a what-if and its scheduler configuration.
- `queues.queue_update`: a merge patch on one queue.
- `runs.run_create`, `imports.import_create`: ask a worker for a run, for the reading of a large import.
  Interfaces start both through `planner.tasks`, which also sends the kick. `work.work_cancel` stops either.
- `work.work_claim`, `work_heartbeat`, `work_end`, `work_release`: a worker's steps with all work, fenced by
  the attempt number; each says whether the work was still this worker's.
- `execution.work_execute`: those steps in order, around the child process; `simulations` and `readings` say
  what is done with a run and with an import.
- `recovery.work_recover`: expired leases and forgotten kicks.
"""
