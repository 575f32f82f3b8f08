"""The recorded default run, as the server has it."""

import streamlit as st

from ohash.engine.live.presets import PRESETS
from ohash.engine.live.recording import Recording
from ohash.engine.params import ExperimentParams
from ohash.streams.samples import sample_folder


@st.cache_resource(show_spinner=False)
def recording() -> Recording | None:
    """None if its file is missing or does not belong to the default preset any more."""
    file = sample_folder() / "recording.npz"
    if not file.is_file():
        return None
    found = Recording(file)
    return found if found.params == PRESETS[0].params() else None


def recording_of(params: ExperimentParams) -> Recording | None:
    """The recording, if it is of this experiment."""
    found = recording()
    return found if found is not None and found.params == params else None
