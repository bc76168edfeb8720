"""What normviz needs from the machine it runs on: files, optional packages, progress bars.

Nothing here knows about attention; every other package may use it.
"""
