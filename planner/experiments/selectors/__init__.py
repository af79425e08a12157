"""What is read of experiments?"""
