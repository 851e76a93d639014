"""The server's settings: by flag, by environment (`ULLAGE_…`), by default, in this order.

Rule: what is refused is told in words of ours: the setting, its value, and what is right (`RIGHT`).
"""

from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ullage.target import default_listen

#: What each setting takes, to be told where a value is none of it.
RIGHT = {
    "listen": "unix:PATH or HOST:PORT",
    "data": "the path of a folder",
    "store": "postgresql://USER@HOST/DATABASE",
    "insecure": "true or false",
    "reflection": "auto, on or off",
    "cache_mebibytes": "a whole number from 1",
    "drain_seconds": "a number of seconds, 0 or more",
}


class Settings(BaseSettings):
    """What a server is told; every field may be set in the environment with the prefix `ULLAGE_`."""

    model_config = SettingsConfigDict(env_prefix="ULLAGE_", extra="ignore")

    listen: str = Field(default_factory=default_listen, description="unix:PATH or HOST:PORT")
    data: Path = Field(
        default_factory=lambda: user_data_path("ullage"),
        description="the folder of the ledger and the ladder",
    )
    store: str | None = Field(
        None,
        pattern="^postgres(ql)?://",
        repr=False,
        description="the PostgreSQL database that several servers share; else all is in the data folder",
    )
    insecure: bool = Field(False, description="listen beyond this machine without TLS")
    reflection: Literal["auto", "on", "off"] = Field(
        "auto", description="server reflection; auto: only where this machine alone reaches the server"
    )
    # A folded state takes less than 1 KiB, so this is room for 131,072 runs.
    cache_mebibytes: int = Field(128, ge=1, description="how much memory the runs' states may take")
    drain_seconds: float = Field(
        10, ge=0, allow_inf_nan=False, description="how long calls under way may take to finish at the end"
    )

    @field_validator("data", mode="before")
    @classmethod
    def _named(cls, data: object) -> object:
        # An empty path would be the current folder, which an unset variable in a script surely does not mean.
        if data == "":
            raise ValueError("an empty path")
        return data
