"""The playground: hash codes of points in the plane, learnt in the browser. JavaScript files without a build step.

`cards.js` shows the meaning of terms. `step.js` is the algorithm; `points.js`, `features.js`, `measure.js` are what it
works on, `run.js` and `history.js` a run that can go back. `plane.js`, `draw.js`, `charts.js`, `canvases.js` are the
pictures, `words.js`, `report.js` the text, `link.js`, `address.js`, `live.js` the links, `rail.js`, `lesson.js`,
`tools.js`, `hand.js` the controls, `transport.js` the whole.
`bundle.py` joins them in its order; each uses the names of those before it.
"""
