"""What is read about accounts?"""
