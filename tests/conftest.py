"""How long the property tests search: `default` in every run, `long` in `make fuzz`."""

from hypothesis import settings

# What failed can be run again from its blob, and a busy machine is no fault of the code's.
settings.register_profile("default", print_blob=True, deadline=None)
settings.register_profile("long", parent=settings.get_profile("default"), max_examples=5000)
settings.load_profile("default")
