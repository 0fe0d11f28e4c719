"""Rows about other machines: addresses in use, credentials, services that cannot be reached. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import CAUSE, DEATH, RuleRow

PORT: tuple[RuleRow, ...] = (
    RuleRow(
        "port",
        "port_in_use",
        CAUSE,
        "port |already in use|eaddrinuse|is in use|already being used|address in use|already allocated|could not bind"
        "|cannot bind|bind|cannot find |only one usage|add port|no address added",
        r"address (?:is )?already in use|\bEADDRINUSE\b|(?:only one usage of each socket address)"
        r"|port (?:number )?\d{1,20}.{0,30}(?:in use|being used|occupied|taken|not available)"
        r"|\bport is already (?:allocated|used)"
        r"|(?:bind|listen).{0,60}(?:address|port).{0,30}in use|cannot find (?:an )?(?:empty|free) port"
        r"|failed to add port to server\b|no address added out of total"
        r"|could not bind (?:tcp )?(?:to )?(?:port|address)|bind\(\).{0,20}in use",
        "Linux EADDRINUSE",
        "OSError: [Errno 98] Address already in use",
    ),
)

CERTIFICATES: tuple[RuleRow, ...] = (
    RuleRow(
        "certificate",
        "auth_error",
        CAUSE,
        "certificate|x509|pkix path",
        r"certificate[_ ]verif(?:y|ication)[_ ]failed|\bcertificate(?: \S{1,80})? (?:has expired|is not (?:yet )?valid"
        r"|is not trusted|signed by unknown|expired\b)|\bx509: (?:certificate|cannot|failed|unhandled)"
        r"|\bself[- ]signed certificate\b|\bpkix path (?:building|validation) failed|\binvalid peer certificate\b"
        r"|\bcertificate(?:expired|notyetvalid|revoked)?exception\b"
        r"|unable to (?:get (?:local )?issuer|verify the first) certificate|fail\w{0,4} to verify certificate",
        "OpenSSL, Go, curl, git, Node",
        "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed",
    ),
)

AUTH: tuple[RuleRow, ...] = (
    RuleRow(
        "licence",
        "auth_error",
        CAUSE,
        "license|licence|licensing|flexlm|lmgrd",
        r"\b(?:licen[sc]es?|licensing|flexlm|lmgrd)\b.{0,60}\b(?:check-?out (?:\w{1,20} )?fail\w*|not available"
        r"|unavailable"
        r"|denied|expired|invalid|error|refused|not found|missing|exceeded|exhausted|down|unreachable|not respond\w*)\b"
        r"|\b(?:no|cannot|could not|unable to|failed to) (?:\w{1,20} ){0,6}?(?:licen[sc]es?\b(?! field)|flexlm)",
        "MATLAB, FlexLM, Gurobi, Ansys, Comsol",
        "License checkout failed.",
    ),
    RuleRow(
        "refused-credentials",
        "auth_error",
        CAUSE,
        "unauthorized|repository not found|accesscontrol"
        "|npm err|username|user name|password|not have permission|invalid username"
        "|forbidden|gated"
        "|authent|authoriz|credential"
        "|api key|api_key|token|access denied|accessdenied|login|publickey|permission denied|logged in"
        "|client error|status|restricted|signaturedoesnotmatch|invalidaccesskeyid|expiredtoken"
        "|unauthenticated|does not have|permission_denied|http|repositorynotfound"
        "|auth failed|host key|kaggle.json|.netrc|error code|not authorized|license|entity|access to",
        r"^[\w.]{0,80}(?:Rest|Http|HTTP|Api|API|Client|Request|Response)(?:Exception|Error): .{0,60}"
        r"\b(?:Forbidden|Unauthorized)\W{0,3}$"
        r"|\bhost key verification failed|\b40[13]\b.{0,80}(?:unauthorized|forbidden|client error|denied)"
        r"|(?:unauthorized|forbidden"
        r"|denied).{0,60}(?:url|\b40[13]\b)|(?:status|error|code|response)"
        r"[^\w]{0,3}(?:code)?[^\w]{0,4}40[13]\b|gated repo|GatedRepoError|RepositoryNotFoundError"
        r"|repository not found for url|(?:invalid|incorrect|wrong)(?: or missing)? (?:user ?name|login|password)"
        r"|password authentication failed|cannot access gated|^@ERROR: auth failed\b"
        r"|access to model .{0,120} is restricted|(?:invalid|missing|expired|incorrect|wrong|no|bad"
        r"|revoked)(?: \w{1,40})? (?:api[ _-]?key|(?:access |auth\w{0,24} |bearer |hf |user )token|credentials?)\b"
        r"|api[ _-]?key.{0,40}(?:not (?:configured|found|set|valid|provided)|invalid|missing|required|expired"
        r"|must be)|unable to locate credentials|NoCredentials\w{0,24}|authentication"
        r" (?:failed|required|error)|Authentication(?:Error|Failed)|fail(?:ed|s) to authenticate|\bAccessDenied\b"
        r"|\bAccessControlException\b"
        r"|access denied|SignatureDoesNotMatch"
        r"|InvalidAccessKeyId|ExpiredToken|token (?:has )?(?:is )?expired|not logged in"
        r"|you must (?:be )?(?:log(?:ged)? ?in|call wandb\.login|authenticate)|\bUNAUTHENTICATED\b(?! requests)"
        r"|\bPERMISSION_DENIED\b(?!: [./~])|permission denied \(publickey|permission denied: entity"
        r"|(?:could not|unable to|failed to) (?:automatically )?(?:determine|find|locate"
        r"|load) (?:default )?credentials|DefaultCredentialsError|(?:do(?:es)?|did) not have (?:the "
        r"|sufficient )?permissions?|does not have \S{1,80} access|401 client error"
        r"|fail\w{0,3} to (?:refresh|renew|obtain|acquire) .{0,30}(?:token|credentials)\b|authorization (?:failed"
        r"|required)|not authorized|403 client error|LocalTokenNotFoundError"
        r"|UsageError: api_key|RefreshError|requires authentication|^npm (?:err!|error) code e40[13]\b"
        r"|(?!UnauthorizedAccess)\w{0,24}Unauthorized\w{0,24}(?:Error|Exception)"
        r"|access token.{0,30}required|(?:not|cannot|unable to) find .{0,40}(?:kaggle\.json|\.netrc|credentials)\b",
        "Hugging Face, wandb, S3, GCS, ssh",
        "huggingface_hub.errors.GatedRepoError: You must be logged in",
    ),
)

NETWORK: tuple[RuleRow, ...] = (
    RuleRow(
        "unreachable",
        "network_blip",
        CAUSE,
        "nodename|max retries|dial |too many clients|temporary failure|unable to resolve|name resolution"
        "|name or service|getaddrinfo"
        "|timed out|timeout|connection|gateway"
        "|unavailable|network|couldn't connect|unreachable|server error|too many requests"
        "|temporary failure|dns|resolve|ssl|eof occurred|offline|incompleteread|chunkedencoding"
        "|protocolerror|rate limit|slow ?down|slowdown|curl|broken pipe|cdn|http|commerror|no route"
        "|endpoint|service|download|fetch-pack|deadline exceeded|remote end|internetopenerror|transfer closed|too slow"
        "|code econn|code etimedout|code enotfound|code eai_again|code ehostunreach|code enetunreach|'econn"
        "|'enotfound|'eai_again",
        r"max retries exceeded|\btoo many (?:connections|clients already)\b|\bdial (?:tcp|udp"
        r"|unix)\b.{0,80}(?:refused|time|no route|unreachable|no such host)"
        r"|temporary failure (?:in name resolution|resolving)|unable to resolve host"
        r"|name or service not known"
        r"|getaddrinfo (?:failed|ENOTFOUND|EAI_AGAIN)|nodename nor servname"
        r"|could(?: not|n't) resolve (?:host|proxy)|failed to resolve '"
        r"|NameResolutionError|(?:read|connect(?:ion)?|request|connect call|http\S{0,80}|socket|download|handshake"
        r"|response) timed? ?out(?!.{0,40}(?:rank|store|rendezvous|collective))"
        r"|(?:requests|urllib3|httpx|httpcore|aiohttp|botocore|google\.api_core|openai|fsspec|huggingface_hub"
        r"|urllib|http\.client|gcsfs|s3fs|aiobotocore)\.[\w.]{0,60}(?:Connect|Timeout|Network|Protocol"
        r"|ReadError|Payload|SSLError|ServiceUnavailable|ServerError|RetryError|URLError|Disconnect|IncompleteRead"
        r"|ChunkedEncoding|EndpointConnection|TooManyRequests|InternalServer|ProxyError|GatewayTimeout)\w{0,24}"
        r"|(?<!HTTP/\d\.\d\" )\b50[0234]\b.{0,40}(?:server error|bad gateway|service unavailable|gateway time-?out"
        r"|internal server)|(?:http|status|error)\D{0,12}(?:50[0234]|429|52\d)\b|\b429\b.{0,30}too many"
        r"|bad gateway|gateway time-?out|service (?:is )?(?:temporarily )?unavailable|network is unreachable"
        r"|no route to host|we couldn't connect to '|couldn't reach (?:the|'|http)|urlopen error"
        r"|SSLError|EOF occurred in violation of protocol|IncompleteRead|remote end closed connection"
        r"|ServerDisconnectedError|LocalEntryNotFoundError|EndpointConnectionError|ConnectTimeout|ReadTimeout"
        r"|(?-i:SlowDown\b)|reduce your request rate|rate limit exceeded|Could not connect to the endpoint"
        r"|network error|ConnectionError: (?:couldn't|could not|http)|\bcurl:? \(?(?:5|6|7|16|18|28|35|52|55|56"
        r"|92|95|96)\b"
        r"|failed to (?:connect|reach|download).{0,80}(?:http|host|server|api|hub|timed)|DEADLINE_EXCEEDED"
        r"|OfflineModeIsEnabled|fetch-pack: unexpected disconnect|(?:unable to|could not) access (?:'"
        r"|index for repository )http"
        r"|\bcode:? '?E(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b"
        r"|transfer closed with|operation too slow\b"
        r"|wandb.{0,40}(?:timed out|timeout|commerror|network error)|CommError.{0,60}(?:timeout|timed out"
        r"|communicat)|error communicating with|connection (?:to \S{1,80} )?(?:refused|aborted"
        r"|was reset).{0,60}(?:http|api|host)",
        "requests, urllib3, Hugging Face, S3, GCS, wandb",
        "requests.exceptions.ConnectionError: Max retries exceeded with url: /a (Caused by NameResolutionError)",
    ),
    RuleRow(
        "rsync-code",
        "network_blip",
        CAUSE - 1,  # a line that states the reason goes before it
        "rsync error",
        r"^rsync error: .{0,120}\(code (?:10|12|30|35)\)",
        "rsync, whose exit codes tell a lost connection from a wrong file",
        "rsync error: error in rsync protocol data stream (code 12) at io.c(232) [receiver=3.2.7]",
    ),
    RuleRow(
        "connection-lost",
        "network_blip",
        DEATH,
        "etimedout|connection|broken pipe|timeouterror|econn|errno|socket|eof when reading",
        r"Connection(?:Refused|Reset|Aborted)?Error|connection (?:refused|reset by peer|timed out|aborted"
        r"|unexpectedly closed)"
        r"|\bECONN\w{1,40}|TimeoutError|ETIMEDOUT|errno 1(?:0[1-4]|1[0-3])\b",
        "Python, Linux sockets",
        "ConnectionRefusedError: [Errno 111] Connection refused",
    ),
)
