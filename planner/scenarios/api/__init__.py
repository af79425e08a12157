"""What does a script see of scenarios?"""
