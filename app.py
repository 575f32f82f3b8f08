"""The dashboard's router."""

import streamlit as st

st.set_page_config(page_title="ohash", layout="wide")
st.title("ohash")
