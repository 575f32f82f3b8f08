"""The named data sets, each in a module that defines DATASET: one `DatasetSpec`, or a tuple of them.

`ohash.streams.registry` imports every module of this package, so a new data set is a new file and nothing else. One
that defines FAMILY has data sets that are not listed, since their keys say what is in them (`playground`).
`pictures`, `corners` and `paper_setting` are shared by several. A sample's builder stands beside its data set.
"""

__all__: list[str] = []
