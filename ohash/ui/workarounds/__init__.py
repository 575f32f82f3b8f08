"""Every workaround for Streamlit, and nothing else; imports no other part of the dashboard."""
