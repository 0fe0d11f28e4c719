"""Exit codes and sentences of the tools that fetch and copy: curl, wget, rsync, ssh, git, aria2, MPI's files. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE, CONFIG, DEATH, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

CURL: tuple[RuleRow, ...] = rows(
    r"\bcurl:? \(?{}(?!\d)",
    "curl",
    "curl: the code of its last line",
    Listed("curl-memory", "host_oom", CAUSE, "27", "curl: (27) Out of memory"),
    Listed("curl-disk", "disk_full", CAUSE, "70", "curl: (70) The server has no room"),
    Listed("curl-refused", "auth_error", CAUSE, "(?:9|11|51|58|60|66|67|83|90|91|94)", "curl: (67) Access denied: 530"),
    Listed(
        "curl-network",
        "network_blip",
        CAUSE,
        "(?:5|6|7|8|1[023456789]|28|3[135]|45|47|52|5[56]|61|64|69|74|79|8[01]|8[5-9]|9[2-9])",
        "curl: (8) Weird server reply",
    ),
    Listed("curl-damaged", "data_error", CAUSE, "36", "curl: (36) Bad download resume"),
    Listed(
        "curl-setting",
        "config_error",
        CONFIG,
        "(?:1|2|3|4|26|37|4[1389]|5[349]|63|68|7[137]|78|82|84)",
        "curl: (3) URL using bad/illegal format or missing URL",
    ),
)

# What went wrong stands above such a line, if the other side or the disk told it.
RSYNC: tuple[RuleRow, ...] = rows(
    r"^rsync error: .{0,120}\(code {}\)",
    "rsync error",
    "rsync: the code of its last line",
    Listed(
        "rsync-memory",
        "host_oom",
        CAUSE - 1,
        "22",
        "rsync error: error allocating core memory buffers (code 22) at x.c(1)",
    ),
    Listed("rsync-network", "network_blip", CAUSE - 2, "255", "rsync error: unexplained error (code 255) at io.c(228)"),
    Listed(
        "rsync-file",
        "unknown",
        DEATH + 1,
        "11",
        "rsync error: error in file IO (code 11) at receiver.c(374)",
        rivals=("disk_full", "permission_error", "data_error"),
    ),
    Listed(
        "rsync-setting",
        "config_error",
        DEATH + 1,
        "(?:[1-6]|2[345])",
        "rsync error: syntax or usage error (code 1) at main.c(1792)",
    ),
)

ARIA: tuple[RuleRow, ...] = rows(
    r"\berrorCode={}(?!\d)",
    "errorcode=",
    "aria2: the code of a download that was given up",
    Listed("aria-network", "network_blip", CAUSE, "(?:2|5|6|19|2[013]|29|30)", "errorCode=2 Timeout."),
    Listed(
        "aria-answer", "network_blip", DEATH + 1, "22", "errorCode=22 URI=http://mirror.example/a"
    ),  # why, stands below
    Listed("aria-refused", "auth_error", CAUSE, "24", "errorCode=24 Authorization failed."),
    Listed("aria-disk", "disk_full", CAUSE, "9", "errorCode=9 There is no room."),
    Listed("aria-data", "data_error", CAUSE, "(?:8|10|17|32)", "errorCode=32 Checksum error detected."),
    Listed("aria-setting", "config_error", BUG, "(?:3|4|1[1-8]|2[5-8]|31)", "errorCode=3 Resource not found"),
)

SSH: tuple[RuleRow, ...] = (
    RuleRow(
        "ssh-refused",
        "auth_error",
        CAUSE,
        "authentication failures|load key|no matching host key|no matching key exchange|cannot verify|agent refused",
        r"\btoo many authentication failures\b|^load key \".{1,200}\": |\bagent refused operation\b"
        r"|^(?:error: )?cannot verify \S{1,120}'s certificate|\bno matching (?:host key type|key exchange method"
        r"|cipher) found",
        "ssh, wget",
        "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
    ),
    RuleRow(
        "ssh-lost",
        "network_blip",
        CAUSE - 1,
        "client_loop|packet_write_wait|not responding|lost connection|kex_exchange|ssh_exchange|ssh_dispatch"
        "|no data received|closed by remote host|unexpectedly closed|early eof|rpc failed",
        r"\bclient_loop: |\bpacket_write_(?:wait|poll): |^timeout, server \S{1,120} not responding\b"
        r"|^lost connection\W{0,2}$"
        r"|\b(?:kex|ssh)_exchange_identification: |\bssh_dispatch_run_fatal: |\bno data received\.$"
        r"|^connection to \S{1,120} closed by remote host\b|^fatal: early eof\b|^error: rpc failed\b",
        "ssh, scp, wget, git",
        "client_loop: send disconnect: Broken pipe",
    ),
)

GIT: tuple[RuleRow, ...] = (
    RuleRow(
        "git-setting",
        "config_error",
        CONFIG,
        "fatal: |pathspec",
        r"^fatal: (?:repository '.{1,200}' (?:not found|does not exist)|not a git repository|couldn't find remote ref"
        r"|destination path '"
        r"|unable to create '.{1,200}\.lock': file exists|ambiguous argument|bad revision|invalid reference"
        r"|a branch named|no such ref|not a valid object name|pathspec '|'.{1,200}' is not a commit"
        r"|remote error: upload"
        r"-pack: not our ref|reference is not a tree|'.{1,120}' does not appear to be)"
        r"|^error: pathspec '",
        "git",
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
)

MPI: tuple[RuleRow, ...] = rows(
    r"\bMPI_ERR_{}\b",
    "mpi_err_",
    "MPI: classes of errors that are of the machine, not of a colleague",
    Listed("mpi-memory", "host_oom", CAUSE, "NO_MEM", "*** MPI_ERR_NO_MEM: out of memory"),
    Listed("mpi-space", "disk_full", CAUSE, "NO_SPACE", "*** MPI_ERR_NO_SPACE: there is none"),
    Listed("mpi-quota", "quota_exceeded", CAUSE, "QUOTA", "*** MPI_ERR_QUOTA: it is used up"),
    Listed("mpi-rights", "permission_error", CAUSE, "ACCESS|READ_ONLY", "*** MPI_ERR_ACCESS: it may not"),
    Listed(
        "mpi-file",
        "config_error",
        BUG,
        "NO_SUCH_FILE|BAD_FILE|FILE_EXISTS|FILE_IN_USE|AMODE|UNSUPPORTED_DATAREP",
        "*** MPI_ERR_BAD_FILE: the name of it",
    ),
    Listed(
        "mpi-call",
        "code_error",
        BUG,
        "TRUNCATE|TYPE|COUNT|TAG|BUFFER|ARG|OP|ROOT|DIMS|TOPOLOGY|REQUEST",
        "*** MPI_ERR_TRUNCATE: message truncated",
    ),
    Listed("mpi-data", "data_error", CAUSE, "IO|CONVERSION", "*** MPI_ERR_IO: the file"),
)

PACKAGES: tuple[RuleRow, ...] = (
    RuleRow(
        "no-such-package",
        "config_error",
        CAUSE - 1,
        "unable to locate package|installation candidate|no match for argument|no available formula|packagesnotfound"
        "|unable to find a match|resolvepackagenotfound|code e404|is not in this registry",
        r"^E: (?:Unable to locate package|Package \S{1,120} has no installation candidate)"
        r"|^(?:Error: )?(?:Unable to find a match|No match for argument): \S|^Error: No available formula with the name"
        r"|\b(?:ResolvePackageNotFound|PackagesNotFoundError)\b|^npm (?:ERR!|error) (?:code E404|404 .{1,120}"
        r"is not in this registry)",
        "apt, dnf, Homebrew, conda, npm: no package of that name, or not in this version",
        "E: Unable to locate package libblas-devel",
    ),
)
