"""What the end to end tests stand on: servers, clients and processes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../proof"))

import clean    # noqa: E402,F401  of the proofs, with which they share it
