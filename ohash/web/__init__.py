"""The playground: hash codes of points in the plane, learnt in the browser. JavaScript files without a build step.

`step.js` is the algorithm, `world.js` the points, pairs and measures, `draw.js` the pictures, `transport.js` the
controls. The files are joined in this order; each uses the names of those before it.
"""

from ohash.web.files import about, component_script, markup, script, standalone, style

__all__ = ["about", "component_script", "markup", "script", "standalone", "style"]
