import pytest

from ullage_server.ops.address import AddressRefused, check_listen


@pytest.mark.parametrize(
    "listen",
    [
        "127.0.0.1:\u0663",
        "127.0.0.1:\u00b2",
        "127.0.0.1:65536",
        "127.0.0.1:+1",
        "127.0.0.1: 1",
        "127.0.0.1:",
        "127.0.0.1",
        ":50151",
        "::1:0",
        "::1",
        "[::1]",
        "[::1",
        "[127.0.0.1]:1",
        "[]:1",
        "http://127.0.0.1:50151",
        "https://ullage.example:443",
        "tcp:127.0.0.1:1",
        "dns:///localhost:1",
        "local host:1",
        "-x:1",
        "",
    ],
)
@pytest.mark.parametrize("insecure", [False, True])
def test_what_is_no_address_is_refused_and_the_right_form_told(listen: str, insecure: bool) -> None:
    with pytest.raises(AddressRefused, match="is no address: it is unix:PATH or HOST:PORT"):
        check_listen(listen, insecure=insecure)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.9.9.9:65535", "localhost:50151", "[::1]:50151"])
def test_loopback_is_listened_on(listen: str) -> None:
    assert check_listen(listen, insecure=False) == listen


@pytest.mark.parametrize("listen", ["0.0.0.0:1", "[::]:1", "ullage.example:50151", "host_1.example.:50151"])
def test_what_others_reach_is_listened_on_only_if_asked_for(listen: str) -> None:
    with pytest.raises(AddressRefused, match="--insecure"):
        check_listen(listen, insecure=False)
    assert check_listen(listen, insecure=True) == listen
