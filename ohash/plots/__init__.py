"""L5: a history becomes a chart described as data."""
