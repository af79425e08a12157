"""The Django project: wiring only, no rules."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""NumPy reads it when it is imported. Threads of several requests would wait for each other's, nothing here
multiplies matrices, and to start one for each processor takes half of NumPy's start."""

WHILE_STARTING = 1_000_000
"""The number of new objects after which garbage is collected until the app is ready, instead of 700.

Nearly all are parts of modules, which live as long as their process: to look for garbage among them again and
again takes a tenth of each start.
"""
gc.set_threshold(WHILE_STARTING, *gc.get_threshold()[1:])
