"""What is read about runs?"""
