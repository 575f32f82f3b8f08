"""L6: the only sub-package that imports streamlit."""
