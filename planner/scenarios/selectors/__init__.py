"""What is read about scenarios?"""
