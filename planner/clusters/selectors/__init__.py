"""What is read about clusters?"""
