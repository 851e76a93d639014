"""What a server says on the wire, made by hand for the tests of the client."""

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from ullage.v1 import building_service_pb2, run_pb2, run_service_pb2

RUNS = run_service_pb2.DESCRIPTOR.services_by_name["RunService"].methods_by_name
BUILDINGS = building_service_pb2.DESCRIPTOR.services_by_name["BuildingService"].methods_by_name

NOTHING = run_service_pb2.ObserveUsageResponse(sounded=run_pb2.SOUNDED_NOTHING)


class Failing:
    """One scripted failure: a code, and the details that Ullage would send (none where no reason is given)."""

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str = "",
        message: str = "it failed",
        *,
        retry: float | None = None,
        field: str = "",
        subject: str = "run r1",
        recovery: str = "do better",
        domain: str = "ullage",
        details: bytes | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.details = details
        if reason:
            told: list[Message] = [
                error_details_pb2.ErrorInfo(
                    reason=reason,
                    domain=domain,
                    metadata={"action": "trying", "subject": subject, "recovery": recovery},
                )
            ]
            if field:
                violation = error_details_pb2.BadRequest.FieldViolation(field=field, description="is wrong")
                told.append(error_details_pb2.BadRequest(field_violations=[violation]))
            if retry is not None:
                delay = Duration(nanos=int(retry * 1e9) % 10**9, seconds=int(retry))
                told.append(error_details_pb2.RetryInfo(retry_delay=delay))
            status = status_pb2.Status(code=code.value[0], message=message)
            for detail in told:
                packed = AnyMessage()
                packed.Pack(detail)
                status.details.append(packed)
            self.details = status.SerializeToString()

    @property
    def trailing(self) -> tuple[tuple[str, bytes], ...]:
        return () if self.details is None else (("grpc-status-details-bin", self.details),)


UNREACHABLE = Failing(grpc.StatusCode.UNAVAILABLE, message="Connection refused")
#: How grpc ends the calls of a server that is stopped.
CANCELLED = Failing(grpc.StatusCode.CANCELLED, message="CANCELLED")


def started(run_id: str = "r1", *, last_turn: int = 0) -> run_service_pb2.StartRunResponse:
    return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id=run_id, last_turn=last_turn))
