"""The recording of the default run, loaded once per server."""

import streamlit as st

from ohash.engine.live.presets import PRESETS
from ohash.engine.live.recording import Recording
from ohash.engine.params import ExperimentParams
from ohash.streams.samples import sample_folder


@st.cache_resource(show_spinner=False)
def recording() -> Recording | None:
    """None if its file is missing or no longer belongs to the default preset."""
    file = sample_folder() / "recording.npz"
    if not file.is_file():
        return None
    loaded = Recording(file)
    return loaded if loaded.params == PRESETS[0].params() else None


def recording_of(params: ExperimentParams) -> Recording | None:
    """The recording, if it is of this experiment."""
    loaded = recording()
    return loaded if loaded is not None and loaded.params == params else None
