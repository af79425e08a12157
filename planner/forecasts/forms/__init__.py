"""What do people type about forecasts?"""
