"""Search engines that take binary codes: one file per engine, found by scan.

An engine writes the files it loads and a page with the statements that create, load, search and re-rank. A `Session`
executes the statements of such a page, and nothing else: tests and `bench engines` run what a user would copy.
"""
