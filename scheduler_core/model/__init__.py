"""The scheduler's nouns: tasks, jobs, nodes, queues and the snapshot of them all."""
