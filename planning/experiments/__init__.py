"""What do many settings of one cluster come to, and which smallest change reaches a goal?"""
