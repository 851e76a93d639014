"""Stand-ins shaped like what the providers' SDKs hand out; the SDKs themselves are no dependency."""

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any


class Pydantic2:
    """A pydantic 2 model: fields beside those declared are kept, and `model_dump` takes `warnings`."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def model_dump(self, *, mode: str = "python", warnings: bool = True) -> dict[str, Any]:
        assert not warnings, "pydantic would warn of values that are not of their field's type"
        return {key: dumped(value) for key, value in vars(self).items()}

    def dict(self) -> None:
        raise AssertionError("deprecated, and warns")


class Pydantic1OfAnSdk(Pydantic2):
    """As the OpenAI and Anthropic SDKs patch it over pydantic 1: any value but the default is refused."""

    def model_dump(self, *, mode: str = "python", warnings: bool = True) -> dict[str, Any]:
        if not warnings:
            raise ValueError("warnings is only supported in Pydantic v2")
        return {key: dumped(value) for key, value in vars(self).items()}


class Pydantic1:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def dict(self, *, by_alias: bool = False) -> dict[str, Any]:
        return {key: dumped(value) for key, value in vars(self).items()}


class ToDict:
    """As LiteLLM, Cohere and others have it."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def to_dict(self) -> dict[str, Any]:
        return self._fields


class Proxy(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


class NumPyInt:
    """A whole number that is no int, as numpy.int64."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value

    __int__ = __index__


# As NumPy does with its own.
Integral.register(NumPyInt)


def dumped(value: Any) -> Any:
    return {key: dumped(below) for key, below in vars(value).items()} if isinstance(value, Pydantic2) else value
