"""What do scripts read and write of runs?"""
