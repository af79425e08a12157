"""What is the smallest change of each kind with which a figure of the workbench reaches an amount?"""
