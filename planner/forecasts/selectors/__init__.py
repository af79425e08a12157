"""What is read of workload traces and forecasts?"""
