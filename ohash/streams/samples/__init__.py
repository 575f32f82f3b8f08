"""The embedded samples: how each file of `sample_data/` is built, coded, written and read back.

One sample = one file here with ``FILE`` (its name), ``build(sources)`` (the arrays) and a docstring that says what it
is. `reading.py` is all a user of the data needs; the builders are only for rebuilding it (extra `samples`).
"""
