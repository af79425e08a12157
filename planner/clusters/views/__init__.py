"""What does a browser see of clusters?"""
