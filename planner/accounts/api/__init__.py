"""What does a script see of accounts?"""
