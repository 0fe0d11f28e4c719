"""Why a cluster could not be looked at, in words. Apart from who asks it: a patrol without clusters loads no HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class ClusterReason(NamedTuple):
    """Why a cluster could not be looked at. lasting: it does not get better without a person."""

    key: str
    says: str
    remedy: str
    lasting: bool = False


_LEAVE_IT = "the cluster itself is for a person to fix, never restarted from here"
REASONS: tuple[ClusterReason, ...] = (
    ClusterReason("tunnel", "nothing listens at this end of the tunnel", f"start the tunnel again, nothing else (if the head runs on this machine: it is down; {_LEAVE_IT})"),
    ClusterReason("engine_down", "its controller is not there", f"look whether the head is up and the tunnel leads to it; {_LEAVE_IT}"),
    ClusterReason("engine_late", "its controller does not answer in time", f"it may be overloaded or frozen; {_LEAVE_IT}"),
    ClusterReason("engine_token", "its controller refused the token", "fix `token`: env:NAME or file:PATH; cron does not know your shell's variables", lasting=True),
    ClusterReason("engine_garbled", "what answers there speaks otherwise", "look at `address`: another service may listen there, or the answer was cut off"),
    ClusterReason("engine_name", "its host name cannot be resolved", "check `address` and this machine's own network"),
    ClusterReason("engine_tls", "the encrypted connection failed", "check the certificate and the proxy between here and there"),
    ClusterReason("engine_error", "its controller answers with an error", f"read its words; {_LEAVE_IT}"),
)  # fmt: skip
BY_KEY: Mapping[str, ClusterReason] = {reason.key: reason for reason in REASONS}
