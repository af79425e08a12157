"""What does a browser see of scenarios?"""
