"""The RPCs that the server knows are those of the proto files, each with its path, request and action."""

from tests.rpc.calls import RPCS, path_of
from ullage_server.rpc.methods import ACTIONS, METHODS, SERVICES


def test_the_methods_are_those_of_the_protos() -> None:
    assert {method.name: method.path for method in METHODS} == {rpc: path_of(rpc) for rpc in RPCS}
    assert len(METHODS) == len(RPCS)
    assert {service.full_name for service in SERVICES} == {
        method.containing_service.full_name for method in RPCS.values()
    }
    for method in METHODS:
        assert method.request.DESCRIPTOR.full_name == RPCS[method.name].input_type.full_name


def test_every_rpc_has_an_action_of_its_own() -> None:
    assert ACTIONS.keys() == RPCS.keys()
    assert len(set(ACTIONS.values())) == len(ACTIONS)
    for rpc, action in ACTIONS.items():
        first, *rest = action.split()
        assert first.endswith("ing"), f"{rpc} is {action!r}, which does not say what was being done"
        assert rest, rpc
