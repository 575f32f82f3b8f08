"""One thin script per page: widgets and calls, no maths, no figures."""
