"""Settings of the whole test run."""

import os

from hypothesis import Phase, settings

# The first use of a block builds it, so no example can have a deadline. CI draws the same examples
# on every run: a red run can be repeated, and a new example found by chance is nobody's surprise.
settings.register_profile("local", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
# Whether a fault is seen is all that `tb.mutations` asks for: no smaller example is looked for.
seeing = (Phase.explicit, Phase.generate)
settings.register_profile("seeing", deadline=None, derandomize=True, phases=seeing)
profile = "repeatable" if os.environ.get("CI") else "local"
settings.load_profile("seeing" if os.environ.get("NETWEAVE_MUTATION") else profile)
