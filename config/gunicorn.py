"""How does the web server run, whoever starts it (`--config python:config.gunicorn`)?"""

worker_class = "config.web_worker.PatientThreads"
workers = 2
threads = 32
"""More than can work at once: most wait for slow clients, and a page must not wait behind them."""
timeout = 120
graceful_timeout = 30
limit_request_line = 8190
limit_request_fields = 60
control_socket_disable = True
