"""A chart is drawn: by ECharts in a live page, by Plotly where it stands still, as SVG, PDF or pixels."""
