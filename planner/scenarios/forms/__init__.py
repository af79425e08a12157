"""What do people type about a scenario?"""
