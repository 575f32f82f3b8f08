"""The command line, `python3 -m ohash COMMAND`: one module per command, with `add_arguments` and `run`.

`main` finds the commands and runs one; `lab` is the separate command `ohash-lab`. `own_files` are options that several
commands share, `progress` the progress bar, `browser` a headless browser for `screenshot` and `bench --ui`. No module
here imports streamlit.
"""

__all__: list[str] = []  # commands are run, not imported
