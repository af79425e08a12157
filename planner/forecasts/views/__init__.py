"""Which pages show workload traces and forecasts?"""
