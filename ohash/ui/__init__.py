"""The dashboard, and the only package that imports streamlit.

One folder or file per page (`live`, `compare`, `data`, `runs`, `sweeps`, `paper`) over what pages share (`parts`), what
a browser tab and the server remember (`session`), and every workaround for Streamlit (`workarounds`).
"""
