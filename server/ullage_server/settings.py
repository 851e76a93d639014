"""The server's settings: by flag, by environment (`ULLAGE_…`), by default, in this order."""

from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ullage.target import default_listen


class Settings(BaseSettings):
    """What a server is told; every field may be set in the environment with the prefix `ULLAGE_`."""

    model_config = SettingsConfigDict(env_prefix="ULLAGE_", extra="ignore")

    listen: str = Field(default_factory=default_listen, description="unix:PATH or HOST:PORT")
    data: Path = Field(
        default_factory=lambda: user_data_path("ullage"),
        description="the folder of the ledger and the ladder",
    )
    insecure: bool = Field(False, description="listen beyond this machine without TLS")
    reflection: Literal["auto", "on", "off"] = Field(
        "auto", description="server reflection; auto: only where this machine alone reaches the server"
    )
    # A folded state takes less than 1 KiB, so this is room for 131,072 runs.
    cache_mebibytes: int = Field(128, ge=1, description="how much memory the runs' states may take")
    drain_seconds: float = Field(10, ge=0, description="how long calls under way may take to finish at the end")
