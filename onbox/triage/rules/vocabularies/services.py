"""Codes by which services answer: HTTP, gRPC, and the stores and clouds (S3, AWS, Google, Azure). Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE, DEATH, PEER, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

# Of what a client was answered; an access log's `"GET /x HTTP/1.1" 404` is none.
_HTTP = (
    r"(?:\bHTTP (?:request |response |GET |POST |PUT )?(?:failed )?(?:with )?(?:error|status|code)(?: code)?:? ?"
    r"|\bHTTP Error |(?<!exit )\bstatus(?:[ _]?code)?[ :='\"]{1,3}|(?<![\"\w])HTTP/[\d.]{1,4} |\breturned error: "
    r"|\bresponse code:? |\b\w{0,24}(?:http|response)error: |\b(?:client|server) error '"
    r"|\bunexpected (?:http )?(?:status|response)(?: code)?:? (?:from \S{1,200} )?|awaiting response\.\.\. )"
    r"{}(?!\d|\.\d)|\bERROR {}: (?-i:[A-Z])[\w' -]{2,40}\.?$|(?:error|exception): {} (?:client|server) error\b"
)
_HTTP_NEED = "http|status|returned error|response|client error|server error|error "
HTTP: tuple[RuleRow, ...] = rows(
    _HTTP,
    _HTTP_NEED,
    "requests, httpx, urllib, aiohttp, curl, wget, Java, Node, R: the status that a server answered",
    Listed(
        "http-refused",
        "auth_error",
        CAUSE,
        "40[1237]|511",
        "curl: (22) The requested URL returned error: 407",
    ),
    Listed(
        "http-storage-full",
        "quota_exceeded",
        CAUSE,
        "507",
        "HTTP Error 507: Insufficient Storage",
    ),
    Listed(
        "http-server",
        "network_blip",
        CAUSE,
        "408|42[359]|5\\d\\d",
        "curl: (22) The requested URL returned error: 502",
    ),
    Listed(
        "http-missing",
        "config_error",
        BUG,
        "404|410|451",
        "HTTP Error 410: Gone",
    ),
    Listed(
        "http-request",
        "code_error",
        BUG,
        "4\\d\\d",
        "urllib.error.HTTPError: HTTP Error 406: Not Acceptable",
    ),
)

_GRPC = r"\bStatusCode\.{}\b|\brpc error: code = {}\b"
_GRPC_NEED = "statuscode.|rpc error: code"
GRPC: tuple[RuleRow, ...] = rows(
    _GRPC,
    _GRPC_NEED,
    "gRPC in Python and Go",
    Listed(
        "rpc-refused",
        "auth_error",
        CAUSE,
        "UNAUTHENTICATED|PERMISSION_?DENIED",
        "\tstatus = StatusCode.UNAUTHENTICATED",
    ),
    Listed("rpc-data", "data_error", CAUSE, "DATA_?LOSS", "rpc error: code = DataLoss desc = page 7 is gone"),
    Listed(
        "rpc-unreachable",
        "network_blip",
        CAUSE,
        "UNAVAILABLE|DEADLINE_?EXCEEDED|RESOURCE_?EXHAUSTED(?!: \\w)|ABORTED",
        "rpc error: code = Unavailable desc = try later",
    ),
    Listed(
        "rpc-missing",
        "config_error",
        BUG,
        "NOT_?FOUND|ALREADY_?EXISTS",
        "rpc error: code = AlreadyExists desc = index 3",
    ),
    Listed(
        "rpc-request",
        "code_error",
        BUG,
        "UNIMPLEMENTED|INVALID_?ARGUMENT|OUT_?OF_?RANGE|FAILED_?PRECONDITION",
        "rpc error: code = Unimplemented desc = method Fit",
    ),
)

# A code is made of words that its family shares: KMSAccessDeniedException, EC2ThrottledException.
_CLOUD = (
    r"(?-i:(?:error occurred \(|\bapi error |\b(?:[Ee]rror ?|ERROR |Service)?[Cc](?:ode|ODE)[:=] ?[\"']?|<Code>"
    r"|\b[Ff]ailed to (?:copy|sync|list|read|open|upload|download): |\(gcloud\.\S{1,80}\) |\bs3 error: )"
    r"(?:\w{1,40}\.)?{}(?:Exception|Error|Fault)?(?:[):,;'\"<.]|\s{1,8}\(|\s{0,8}$| - | =))"
)
_CLOUD_NEED = "error occurred|api error|code:|code=|<code>|failed to |gcloud|s3 error"
CLOUDS: tuple[RuleRow, ...] = rows(
    _CLOUD,
    _CLOUD_NEED,
    "S3 and the other services of AWS, Google Cloud, Azure: the code of the answer",
    Listed(
        "cloud-refused",
        "auth_error",
        CAUSE,
        r"\w{0,40}(?:Access(?:Denied|Disabled)|Auth(?:entic|oriz|Failure)\w{1,20}|AuthFailure|Unauthori[sz]\w{1,20}"
        r"|Expired(?:Token|Credential)|Token(?:Expired|Refresh\w{1,12})|Invalid(?:AccessKey|Token|ClientToken|Signature"
        r"|Credential|Grant)|Signature(?:DoesNotMatch|Expired)|UnrecognizedClient|PermissionDenied|Forbidden"
        r"|InsufficientAccountPermissions|PublicAccess)\w{0,24}|Account(?:Problem|IsDisabled)|IncompleteSignature"
        r"|KMS\.\w{1,40}|NotSignedUp|OptInRequired|Request(?:Expired|TimeTooSkewed)|40[137]",
        "An error occurred (NotSignedUp) when calling the ListObjectsV2 operation: sign up first",
    ),
    Listed(
        "cloud-busy",
        "network_blip",
        CAUSE,
        r"\w{0,40}(?:SlowDown|Throttl|TooManyRequests|Request(?:Limit|Rate)Exceeded|RateLimit|rateLimit|Unavailable"
        r"|ServerBusy|ServiceBusy|Time(?:d)?Out|Timeout|Internal(?:Error|Failure|Server)|ProvisionedThroughput"
        r"|Insufficient\w{0,12}Capacity|AllocationFailed|OperationAborted|IncompleteBody|backendError)\w{0,24}"
        r"|ZONE_RESOURCE_POOL_EXHAUSTED\w{0,24}|5\d\d|429",
        "An error occurred (InternalFailure) when calling the GetObject operation: try again",
    ),
    Listed(
        "cloud-quota",
        "quota_exceeded",
        CAUSE,
        r"\w{0,40}(?:(?:Quota|QUOTA)\w{0,12}(?:Exceeded|EXCEEDED)|LimitExceeded|CountExceeded|SizeLimitReached)\w{0,20}"
        r"|TooMany\w{1,24}|OperationNotAllowed",
        "An error occurred (VcpuLimitExceeded) when calling the RunInstances operation: you have asked for more",
    ),
    Listed(
        "cloud-data",
        "data_error",
        CAUSE,
        r"\w{0,24}(?:BadDigest|Md5Mismatch|Crc64Mismatch|InvalidDigest|Checksum\w{0,12}|ContentSHA256Mismatch)"
        r"|InvalidObjectState|InvalidBlock\w{0,12}|EntityTooLarge",
        "An error occurred (BadDigest) when calling the PutObject operation: sums differ",
    ),
    Listed(
        "cloud-spot",
        "preempted",
        CAUSE,
        r"Spot(?:MaxPrice|Instance)\w{1,30}|MaxSpotPriceExceeded",
        "An error occurred (SpotMaxPriceTooLow) when calling the RunInstances operation: bid more",
    ),
    Listed(
        "cloud-setting",
        "config_error",
        CAUSE - 8,
        r"(?:NoSuch|Invalid|Malformed|Illegal|Unsupported|Missing|Unknown|Overconstrained|Lease|Validation)\w{0,40}"
        r"|\w{0,40}(?:NotFound|AlreadyExists|AlreadyOwned\w{1,12}|NotAvailable|DoesNotExist|InUse|NotSupported|Redirect"
        r"|PreconditionFailed|ConditionNotMet|DryRunOperation)|40[04]|301",
        "An error occurred (IllegalLocationConstraint) when calling the CreateBucket operation: elsewhere",
    ),
)

DATABASES: tuple[RuleRow, ...] = (
    RuleRow(
        "no-such-database",
        "config_error",
        CAUSE,
        "does not exist|unknown database",
        r"\bFATAL:\s{1,4}(?:database|role|user) \"[^\"]{1,80}\" does not exist|\bUnknown database '",
        "PostgreSQL, MySQL: no database or user of that name",
        'psql: error: FATAL:  database "runs" does not exist',
    ),
    RuleRow(
        "database-busy",
        "network_blip",
        CAUSE,
        "the database system is",
        r"\bFATAL:\s{1,4}the database system is (?:starting up|shutting down|in recovery mode|not yet accepting)",
        "PostgreSQL: it takes no connections at this moment",
        "psycopg2.OperationalError: FATAL:  the database system is starting up",
    ),
)

# What stands before an answer of a service: nothing is known but that it was asked.
ASKED_FOR: tuple[RuleRow, ...] = (
    RuleRow(
        "rpc-ended",
        "network_blip",
        DEATH,
        "inactiverpc|multithreadedrendezvous",
        r"_InactiveRpcError|_MultiThreadedRendezvous",
        "gRPC: the status stands in the next lines",
        "grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:",
    ),
    RuleRow(
        "xla-unavailable",
        "nccl_or_distributed",
        PEER,
        "runtimeerror: unavailable|runtimeerror: deadline",
        r"\b(?:Xla|Jax)RuntimeError: (?:UNAVAILABLE|DEADLINE_EXCEEDED)\b",
        "XLA: another host of the program does not answer",
        "jax.errors.JaxRuntimeError: UNAVAILABLE: see above",
    ),
    RuleRow(
        "git-remote",
        "network_blip",
        DEATH,
        "remote repository",
        r"^fatal: could not read from remote repository\b",
        "git: what the other side said stands above",
        "fatal: Could not read from remote repository.",
    ),
)
