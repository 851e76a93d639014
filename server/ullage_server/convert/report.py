"""A turn's report: whatever words its usage came in, core counts it."""

from ullage.v1 import usage_pb2

from ..core.errors import invalid
from ..core.observe import Report
from ..core.usage import CacheAccounting, CountedUsage, Dialect, count_model_usage, count_provider_usage


def report_from(report: usage_pb2.TurnReport) -> Report:
    """The report of a request; refused where its usage is none of the wire's, or comes twice."""
    return Report(
        turn=report.turn,
        usage=_usage(report),
        window_reset=report.window_reset,
        model=report.model,
        context_tokens=report.context_tokens if report.HasField("context_tokens") else None,
    )


def _usage(report: usage_pb2.TurnReport) -> CountedUsage | None:
    if report.HasField("usage"):
        if report.HasField("provider_usage"):
            raise invalid(
                "report.provider_usage",
                "report.usage and report.provider_usage are both there; a turn has one usage",
            )
        usage = report.usage
        accounting = usage.cache_accounting
        if accounting not in _ACCOUNTINGS:
            field = "report.usage.cache_accounting"
            raise invalid(field, f"{field} is {accounting}, no value of CacheAccounting")
        return count_model_usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens if usage.HasField("output_tokens") else None,
            cache_read_input_tokens=usage.cache_read_input_tokens,
            cache_creation_input_tokens=usage.cache_creation_input_tokens,
            cache_accounting=_ACCOUNTINGS[accounting],
        )
    if report.HasField("provider_usage"):
        dialect = report.provider_usage.dialect
        if dialect not in _DIALECTS:
            field = "report.provider_usage.dialect"
            raise invalid(field, f"{field} is {dialect}, no value of Dialect")
        return count_provider_usage(_DIALECTS[dialect], report.provider_usage.json)
    return None


_ACCOUNTINGS: dict[int, CacheAccounting] = {
    number: CacheAccounting[name.removeprefix("CACHE_ACCOUNTING_")]
    for name, number in usage_pb2.CacheAccounting.items()
}
_DIALECTS: dict[int, Dialect] = {
    number: Dialect[name.removeprefix("DIALECT_")] for name, number in usage_pb2.Dialect.items()
}
