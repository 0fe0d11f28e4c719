"""Why a box could not be reached, and what to do about each reason. A table; nothing here says anything of a run."""

from __future__ import annotations

from onbox.backends import cluster_reasons
from onbox.named_tuple import NamedTuple


class UnreachableReason(NamedTuple):
    """One way not to reach a box. lasting: trying again without a change by a person cannot help."""

    key: str
    says: str
    remedy: str
    lasting: bool = False

    def remedy_for(self, host: str) -> str:
        """The remedy for a host, named as ssh takes it."""
        return self.remedy.replace("HOST", host)


CONSOLE = "look at the provider's console: only you can see whether the box is up, paid for and has power"

REASONS: tuple[UnreachableReason, ...] = (
    UnreachableReason("dns", "the host name cannot be resolved", "check the name in ~/.ssh/config and this machine's own network"),
    UnreachableReason("refused", "nothing listens on the ssh port", f"{CONSOLE}; after a restart the port may have changed"),
    UnreachableReason("timeout", "no answer to the connection", f"{CONSOLE}; check this machine's own network"),
    UnreachableReason("no_route", "the network has no way there", "check this machine's own network and its VPN"),
    UnreachableReason("banner", "the port accepts, sshd never speaks", f"the box may be out of memory or frozen; {CONSOLE}"),
    UnreachableReason("closed", "sshd closed the connection before the login", "too many logins at once, or a penalty; it is tried again later"),
    UnreachableReason("late_login", "the login did not end in time", f"the box may be frozen or overloaded; {CONSOLE}"),
    UnreachableReason("auth", "the key was not accepted", "check the key (ssh-add -l) and authorized_keys of the box", lasting=True),
    UnreachableReason("host_key", "the host key is not the known one", "make sure that the box is yours (a rebuilt one has a new key), then remove the old key with ssh-keygen -R as ssh names it", lasting=True),
    UnreachableReason("host_new", "its host key is not known here yet", "log in once by hand, compare the fingerprint with the provider's, and say yes: ssh HOST", lasting=True),
    UnreachableReason("jump", "the jump host could not be passed", "try: ssh to the jump host by itself"),
    UnreachableReason("client", "the ssh client cannot work", "read its words; check `[ssh] command` and ~/.ssh/config", lasting=True),
    UnreachableReason("shell", "the login works, but no POSIX sh ran the probe", "check the account's login shell, its start-up files, and whether its key has a forced command (authorized_keys)", lasting=True),
    UnreachableReason("late", "the box began to answer and did not end in time", "a disk or a start-up file of the account hangs; log in and look"),
    UnreachableReason("cut", "the answer was cut off in the middle", "the link broke; it is tried again at the next tick"),
    UnreachableReason("flood", "it sends more than anybody asked for", "something there floods the connection: log in and look at the account's start-up files"),
    UnreachableReason("defect", "this patrol failed at what the box answered", "tell its makers, with the report that is named; the other boxes are looked at as always"),
    UnreachableReason("untrusted", "the configuration says a way there that nobody has accepted here", "see it, and accept it if it is yours: onbox trust", lasting=True),
    UnreachableReason("unknown", "ssh failed for a reason that is not known here", "read its words"),
)  # fmt: skip

# Clusters are reached over HTTP: their reasons are those of who asks them.
ENGINE_REASONS = tuple(
    UnreachableReason(one.key, one.says, one.remedy, lasting=one.lasting) for one in cluster_reasons.REASONS
)
BY_KEY = {reason.key: reason for reason in (*REASONS, *ENGINE_REASONS)}
