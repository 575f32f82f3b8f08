"""A dashboard on a free port, for benchmarks and screenshots."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

from ohash.cli.lab import app_file

STARTING_SECONDS = 60.0
STOPPING_SECONDS = 10.0


class Dashboard:
    """A server process; `url` answers as soon as the object exists."""

    def __init__(self, **environment: str) -> None:
        """Start it with extra environment variables, and wait until it is healthy."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://localhost:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(app_file()), "--server.port", str(port)],
            cwd=app_file().parent,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise ValueError(
            f"the dashboard did not start within {STARTING_SECONDS:.0f} s; try: {sys.executable} -m streamlit run"
        )

    def stop(self) -> None:
        """Stop the server."""
        self.process.terminate()
        try:
            self.process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:  # a busy machine, and visitors who are still connected
            self.process.kill()
            self.process.wait()
