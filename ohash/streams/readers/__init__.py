"""Files and uploads into arrays: one format is one file, and `formats.READERS` says which extension is whose.

Two entrances share every reader: a path of the data folder (`formats.read_path`, memory-mapped where the format allows)
and uploaded bytes (`formats.read_upload`, with hard limits). What a header declares is checked before anything is
allocated, and nothing is ever unpickled: a pickle runs code when it is read.
"""
