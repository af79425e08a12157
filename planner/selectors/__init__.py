"""What is read, in a known number of queries?"""
