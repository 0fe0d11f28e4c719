"""The signal by which a newer wait ends an older one; apart, so that who reads the register does not load the wait."""

from __future__ import annotations

import signal

SUPERSEDE_SIGNAL = signal.SIGUSR1
