"""The command line, beside the user interface; imports no streamlit."""
