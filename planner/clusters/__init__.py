"""Clusters: import, snapshots, quotas, retention and deletion."""
