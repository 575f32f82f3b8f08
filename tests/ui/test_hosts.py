"""A server on this machine is not reached under somebody else's name, which may have been made to point here."""

from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit import config  # noqa: TID251
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed  # noqa: TID251

from ohash.cli.lab import Dashboard
from ohash.ui.server_start import MIDDLEWARE
from ohash.ui.workarounds.hosts import OPTION, REFUSED, GuardHosts, refuse_other_names

HERE = ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "lab.localhost")
ELSEWHERE = ("evil.example:8501", "localhost.evil.example", "192.0.2.7", "", None)


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    names = ("server.address", OPTION)
    before = {name: (config.get_option(name), config.get_where_defined(name)) for name in names}
    yield
    for name, (value, where) in before.items():
        config.set_option(name, value, where)


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1"])
def test_a_server_on_this_machine_answers_to_its_names_only(address: str) -> None:
    config.set_option("server.address", address)
    refuse_other_names()
    assert all(is_host_allowed(host) for host in HERE)
    assert not any(is_host_allowed(host) for host in ELSEWHERE)


def test_names_that_were_given_are_the_ones_that_count() -> None:
    config.set_option("server.address", "localhost")
    config.set_option(OPTION, ["lab.example"])
    refuse_other_names()
    assert is_host_allowed("lab.example") and not is_host_allowed("evil.example")


def test_a_server_on_a_network_cannot_know_its_names() -> None:
    config.set_option("server.address", "0.0.0.0")
    refuse_other_names()
    assert is_host_allowed("192.0.2.7:8501") and is_host_allowed("lab.example")


def test_the_server_has_the_guard() -> None:
    assert MIDDLEWARE[0].cls is GuardHosts


@pytest.mark.slow
def test_pages_and_sockets_are_refused(tmp_path: Path) -> None:
    """As a browser would ask that was sent to evil.example, whose name now points here."""
    dashboard = Dashboard(OHASH_HOME=str(tmp_path))
    try:
        where = urlsplit(dashboard.url).netloc
        socket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        socket["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
        for path, more, welcome in (("/", {}, 200), ("/_stcore/stream", socket, 101)):
            for host, expected in (("evil.example", 403), (where, welcome)):
                with closing(HTTPConnection(where, timeout=30)) as connection:
                    connection.request("GET", path, headers={"Host": host, "Origin": f"http://{host}", **more})
                    answer = connection.getresponse()
                    assert answer.status == expected, (path, host)
                    if path == "/" and expected == 403:
                        assert answer.read().decode() == REFUSED
    finally:
        dashboard.stop()
