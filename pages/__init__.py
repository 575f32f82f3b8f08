"""One question per page: widgets and calls, no maths, no figures."""
