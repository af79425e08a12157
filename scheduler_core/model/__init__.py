"""The scheduler's data model: tasks, jobs, nodes, queues, and snapshots of them."""
