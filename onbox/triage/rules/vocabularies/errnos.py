"""The texts of the system's error numbers (strerror), as tools, Python, Rust, Go, Node and C++ print them. Pure.

Those that name a full disk, a lost connection or missing rights stand in the tables of their themes.
"""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE
from onbox.triage.rules.vocabularies.listed import Listed, rows

_FORM = r"(?:[:;\]\"'(] ?|^){}(?:$|[\s\"':.,;()\[\\])"  # `path; text [Op: ...]` is TensorFlow's
ERRNOS = (
    *rows(
        _FORM,
        "key has expired|key has been revoked|key was rejected|required key not",
        "Linux: keys of a kernel keyring, of AFS and of encrypted folders",
        Listed(
            "errno-key",
            "auth_error",
            CAUSE,
            "key has expired|key has been revoked|key was rejected by service|required key not available",
            "ls: /afs/x/y: Required key not available",
        ),
    ),
    *rows(
        _FORM,
        "host is down|network is down|software caused|network dropped|communication error on send|link has been severed"
        "|machine is not on the network",
        "Linux sockets",
        Listed(
            "errno-network",
            "network_blip",
            CAUSE,
            "(?<!to bus: )host is down|network is down|software caused connection abort"
            "|network dropped connection on reset|communication error on send|link has been severed"
            "|machine is not on the network",
            "mount.nfs: Host is down",
        ),
    ),
    *rows(
        _FORM,
        "structure needs cleaning|wrong medium type|no medium found|multibyte or wide|bad message|no data available",
        "Linux file systems",
        Listed(
            "errno-data",
            "data_error",
            CAUSE,
            "structure needs cleaning|wrong medium type|no medium found|bad message"
            "|invalid or incomplete multibyte or wide character",
            "OSError: [Errno 117] Structure needs cleaning: '/data/part-7'",
        ),
    ),
    *rows(
        _FORM,
        "file too large",
        "Linux: a limit on the size of files",
        Listed(
            "errno-size",
            "quota_exceeded",
            CAUSE,
            "file too large",
            "cp: error writing '/out/part-7.bin': File too large",
        ),
    ),
    *rows(
        _FORM,
        "resource temporarily unavailable",
        "Linux: a limit on processes, or memory for one more",
        Listed(
            "errno-again",
            "unknown",
            BUG,
            "resource temporarily unavailable",
            "bash: fork: retry: Resource temporarily unavailable",
            rivals=("config_error", "host_oom"),
        ),
    ),
    *rows(
        _FORM,
        "is a directory|not a directory|file exists|symbolic links|name too long|no such device|no locks|not empty"
        "|text file busy|cross-device|operation not supported|cannot assign requested|list too long|not a typewriter"
        "|inappropriate ioctl|destination address required|protocol not supported|address family not",
        "Linux: what a path or an address names is not what it must be",
        Listed(
            "errno-setting",
            "config_error",
            BUG,
            "(?:is|not) a directory|file exists|too many levels of symbolic links|file name too long"
            "|no such device(?: or address)?|no locks available|directory not empty|text file busy"
            "|invalid cross-device link|operation not supported|cannot assign requested address"
            "|argument list too long|inappropriate ioctl for device|(?:address family"
            "|protocol) not supported\\b.{0,20}",
            "cp: target '/data/part-7': Not a directory",
        ),
    ),
)
