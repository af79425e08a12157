"""What do scripts read and write of workload traces and forecasts?"""
