"""What changes about workload traces and forecasts, and by which rule?"""
