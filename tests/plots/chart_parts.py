"""Parts of a chart by their names."""

from ohash.plots.chart import Chart


def names(chart: Chart) -> list[str]:
    return [series.name for series in chart.series]


def labels(chart: Chart) -> list[str]:
    return [mark.label for mark in chart.marks]


def curve(chart: Chart, name: str):
    return next(series for series in chart.series if series.name == name)
