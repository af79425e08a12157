"""What does a browser see of runs?"""
