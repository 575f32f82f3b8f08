"""Streamlit's own charts, brought up to date by the browser without a run of the script.

Streamlit (1.67) shows ECharts, but lets nobody have the chart: it is found among the state that React keeps for the
component. Where it is not found, because Streamlit or React has changed, nothing is fetched.
"""

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

FETCH = """export default ({ data, parentElement }) => {
  const place = parentElement.querySelector(".ohash-fetch"), known = place.address !== undefined;
  place.address = data.address;
  if (known) return;
  const instances = new WeakMap();
  const find = (element) => {
    const name = Object.keys(element).find((one) => one.startsWith("__reactFiber$"));
    for (let fiber = name && element[name], up = 0; fiber && up < 30; fiber = fiber.return, up += 1)
      for (let hook = fiber.memoizedState; hook && typeof hook === "object" && "next" in hook; hook = hook.next) {
        const state = hook.memoizedState;
        if (state && typeof state.setOption === "function" && state.getDom && state.getDom() === element) return state;
      }
    return null;
  };
  const chartOf = (key) => {
    const element = document.querySelector(`.st-key-${key} [_echarts_instance_]`);
    if (!element) return null;
    let chart = instances.get(element);
    if (!chart || chart.isDisposed()) instances.set(element, chart = find(element));
    return chart && !chart.isDisposed() ? chart : null;
  };
  const status = () => document.querySelector(".ohash-words .ohash-status");
  const show = (picture) => {
    const charts = picture.charts.map(([key]) => chartOf(key));
    if (charts.some((one) => !one)) return;
    picture.charts.forEach(([, alt, option], at) => {
      if (Object.keys(option).length) charts[at].setOption(option);
      const element = charts[at].getDom();
      if (element.getAttribute("aria-label") !== alt) element.setAttribute("aria-label", alt);
    });
    document.querySelector(".ohash-words").outerHTML = picture.words;
    if (picture.notes) document.querySelector(".ohash-notes").outerHTML = picture.notes;
  };
  const watch = async () => {
    if (!place.isConnected) return;
    let wait = 500;
    const shown = status()?.dataset.seq, from = place.address, start = performance.now();
    try {
      if (shown && data.keys.every(chartOf)) {
        const answer = await fetch(`${from}&shown=${shown}`, { signal: AbortSignal.timeout(8000) });
        if (answer.status === 200) {
          const picture = await answer.json();
          if (place.address === from && status()?.dataset.seq === shown) show(picture);
          wait = Math.max(10, picture.wait - (performance.now() - start));
        } else if (answer.status === 204) wait = 25;
      }
    } catch { wait = 2000; }
    setTimeout(watch, wait);
  };
  watch();
}"""


def fetch_changes(address: str, keys: list[str]) -> None:
    """Let the browser fetch what changes in the charts of these keys, and in the words around them."""
    _component()(key="fetch", data={"address": address, "keys": keys})


@st.cache_resource
def _component() -> ComponentRenderer:
    place = '<div class="ohash-fetch" hidden></div>'
    css = ".st-key-fetch {display: none;}"  # the gap around an element would stay
    return st.components.v2.component("ohash_fetch", html=place, css=css, js=FETCH, isolate_styles=False)
