"""The checks of Volcano's queue webhook."""

from scheduler_core.admission_rules.webhook import QueueAdmission, WebhookOptions, as_created

__all__ = ["QueueAdmission", "WebhookOptions", "as_created"]
