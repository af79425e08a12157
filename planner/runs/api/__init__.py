"""What does a script see of runs?"""
