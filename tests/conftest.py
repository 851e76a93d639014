"""What all tests share: how long the property tests search, and a PostgreSQL.

The profile is `default` in every run, `long` in `make fuzz`.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgres import Cluster, cluster

# What failed can be run again from its blob, and a busy machine is no fault of the code's.
settings.register_profile("default", print_blob=True, deadline=None)
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=5000)
settings.load_profile("default")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A cluster for all tests, which none of them stops."""
    with cluster() as one:
        yield one
