"""How many tokens the last call's whole prompt took, from whatever its provider reported.

Rule: the prompt as the provider counted it, with the cached tokens in it exactly once, and the output where
it was said. A report without a prompt count, or with one of 0, is no usage. Nothing is ever summed over
calls, taken from a session's total, or estimated.
"""

from dataclasses import dataclass
from enum import Enum

from . import provider_json
from .dialects import SHAPES, Dialect, Shape, Sum
from .domain import MAX_TOKENS, check_tokens
from .errors import invalid
from .kept import Kept
from .provider_json import UsageObject

__all__ = ["CacheAccounting", "CountedUsage", "Dialect", "count_model_usage", "count_provider_usage"]


class CacheAccounting(Enum):
    """The values of `ullage.v1.CacheAccounting`, without their prefix."""

    UNSPECIFIED = 0
    INCLUDED = 1
    EXCLUDED = 2


class CountedUsage(Kept, frozen=True):
    """What one call's report comes down to.

    `prompt_tokens` is at least 1; `output_tokens` is None where the report did not say it; `counted_as` is
    the sum that gave the prompt, in the report's own words.
    """

    prompt_tokens: int
    output_tokens: int | None
    counted_as: str


def count_model_usage(
    *,
    input_tokens: int,
    output_tokens: int | None,
    cache_read_input_tokens: int,
    cache_creation_input_tokens: int,
    cache_accounting: CacheAccounting,
) -> CountedUsage | None:
    """Count a report in Ullage's own words; None: no usage.

    Cached tokens are added where they are said to stand beside the input. Where nothing is said they are
    taken to be inside, unless they are more than the input: then they cannot be.
    """
    check_tokens("report.usage.input_tokens", input_tokens)
    check_tokens("report.usage.cache_read_input_tokens", cache_read_input_tokens)
    check_tokens("report.usage.cache_creation_input_tokens", cache_creation_input_tokens)
    if output_tokens is not None:
        check_tokens("report.usage.output_tokens", output_tokens)
    cached = cache_read_input_tokens + cache_creation_input_tokens
    beside = cache_accounting is CacheAccounting.EXCLUDED or (
        cache_accounting is CacheAccounting.UNSPECIFIED and cached > input_tokens
    )
    prompt = input_tokens + cached if beside else input_tokens
    counted_as = "input + cache_read + cache_creation" if beside else "input"
    return _counted("report.usage.input_tokens", "report.usage.output_tokens", prompt, output_tokens, counted_as)


def count_provider_usage(dialect: Dialect, json: str) -> CountedUsage | None:
    """Count a provider's usage object, given as the JSON text it was sent as; None: no usage."""
    usage = provider_json.parse(json)
    if usage is None:
        return None
    if dialect is Dialect.UNSPECIFIED:
        reading = _told_from_the_keys(usage)
    else:
        named = (_read(shape, usage) for shape in SHAPES if shape.dialect is dialect)
        reading = next((reading for reading in named if reading is not None), None)
    if reading is None:
        return None
    return _counted(provider_json.FIELD, provider_json.FIELD, reading.prompt, reading.output, reading.counted_as)


def _counted(
    prompt_field: str, output_field: str, prompt: int, output: int | None, counted_as: str
) -> CountedUsage | None:
    """The usage of these counts, None for a prompt of 0; refused where a sum is beyond the domain."""
    if prompt > MAX_TOKENS:
        raise invalid(prompt_field, f"the prompt comes to {prompt} tokens; it must be at most {MAX_TOKENS}")
    if prompt + (output or 0) > MAX_TOKENS:
        raise invalid(output_field, f"prompt and output must be at most {MAX_TOKENS} tokens together")
    return CountedUsage(prompt, output, counted_as) if prompt else None


@dataclass(frozen=True, slots=True)
class _Reading:
    """An object read as one shape. `beside` is what the prompt holds beyond its first term."""

    prompt: int
    beside: int
    output: int | None
    counted_as: str
    shape: Shape
    place: UsageObject

    def proven(self) -> bool:
        """Whether prompt and output make the total, where one is given."""
        return self.prompt + (self.output or 0) == _total(self.place, self.shape.total)


def _read(shape: Shape, usage: UsageObject) -> _Reading | None:
    """Read the object as that shape; None where that gives no prompt, or one of 0."""
    place = shape.where(usage)
    if place is None:
        return None
    names, counts = zip(*(_term(place, spellings) for spellings in shape.prompt), strict=True)
    first, beside = counts[0], sum(count or 0 for count in counts[1:])
    output = _total(place, shape.output)
    if first is None or first + beside == 0:
        return None
    said = output or 0
    if shape.inside_if_total and 0 < beside <= first and first + said == _total(place, shape.total):
        names, beside = names[:1], 0
    more = _total(place, shape.if_total)
    if output is not None and more and first + beside + output + more == _total(place, shape.total):
        output += more
    counted_as = " + ".join(names) + (f" of {place.path}" if place.path else "")
    return _Reading(first + beside, beside, output, counted_as, shape, place)


def _term(place: UsageObject, spellings: tuple[str, ...]) -> tuple[str, int | None]:
    """One count under the first of its spellings that says something, and that spelling."""
    for spelling in spellings:
        count = place.count(spelling)
        if count is not None:
            return spelling, count
    return spellings[0], None


def _total(place: UsageObject, terms: Sum) -> int | None:
    """The sum of the counts that are there; None where none is."""
    counts = [count for _, count in (_term(place, spellings) for spellings in terms) if count is not None]
    return sum(counts) if counts else None


def _told_from_the_keys(usage: UsageObject) -> _Reading | None:
    """Read an object that comes without a name, as the form whose own keys it has.

    Where several fit, a form that holds cached tokens to be inside is out if they are more than its whole
    prompt; then the total decides; then the smaller prompt, and of equal ones the plainer sum.
    """
    said = {key for key, value in usage.values.items() if value is not None}
    fitting = [shape for shape in SHAPES if not said.isdisjoint((*shape.prompt[0], *shape.deeper))]
    betrayed = [shape for shape in fitting if not said.isdisjoint(shape.only)]
    # A form that betrays itself rules out those that tell the prompt under the same key.
    taken = {shape.prompt[0] for shape in betrayed}
    others = [shape for shape in fitting if shape.prompt[0] not in taken and not shape.needs_only]
    readings = _readings(betrayed, usage) or _readings(others, usage)
    if not readings:
        return None
    most_beside = max(reading.beside for reading in readings)
    possible = [reading for reading in readings if reading.beside or most_beside <= reading.prompt]
    proven = [reading for reading in possible if reading.proven()]
    return min(proven or possible, key=lambda reading: (reading.prompt, len(reading.counted_as)))


def _readings(shapes: list[Shape], usage: UsageObject) -> list[_Reading]:
    return [reading for shape in shapes if (reading := _read(shape, usage)) is not None]
