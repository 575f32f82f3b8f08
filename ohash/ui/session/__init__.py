"""What a browser tab and the server remember: the session, its live run, its comparison, its data, its address."""
