"""How is work done in the background: queued, claimed, run in a child process, recovered?"""
