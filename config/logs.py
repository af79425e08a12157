"""The configuration of logging."""

import structlog

from config.environment import PRODUCTION, env

LOG_JSON = env.bool("QUEUECAST_LOG_JSON", default=PRODUCTION)
"""One JSON object per line for collectors, otherwise lines for people."""
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": [
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso"),
            ],
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(
                    [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
                    if LOG_JSON
                    else [
                        structlog.dev.ConsoleRenderer(
                            colors=False, pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
                        )
                    ]
                ),
            ],
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("QUEUECAST_LOG_LEVEL", default="INFO")},
}
