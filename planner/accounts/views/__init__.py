"""What does a browser see of accounts?"""
