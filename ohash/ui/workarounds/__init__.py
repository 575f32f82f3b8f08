"""What Streamlit does not offer: every workaround for it is in this folder."""
