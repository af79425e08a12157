"""What does a script see of clusters?"""
