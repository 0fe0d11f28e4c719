"""What the run-time systems and standard libraries of languages say when they end a program. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE, CONFIG, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

# Numbers of Intel's run time (forrtl), which end the program.
FORTRAN: tuple[RuleRow, ...] = rows(
    r"\bforrtl: (?:severe|error) \({}\)|\bfortran runtime error: {}",
    "forrtl|fortran runtime error",
    "ifort, gfortran",
    Listed(
        "fortran-memory", "host_oom", CAUSE, r"41|179|insufficient (?:virtual )?memory", "forrtl: severe (41): x", True
    ),
    Listed(
        "fortran-rights", "permission_error", CAUSE, r"9|34|permission denied", "forrtl: severe (9): x, unit 10", True
    ),
    Listed(
        "fortran-setting",
        "config_error",
        CONFIG,
        r"1[789]|29|30|43|4[4-8]|cannot match namelist|.{0,80}no such file",
        "forrtl: severe (29): file not found, unit 10, file /d/x",
        True,
    ),
)

GO_AND_RUST: tuple[RuleRow, ...] = rows(
    r"^(?:panic: |fatal error: |error: |\S{1,60}: |called `Result::unwrap\(\)` on an `Err` value: ).{0,200}?\b{}",
    "panic|fatal error|error|called `result|x509|i/o timeout|eof",
    "Go, Rust: errors of their standard libraries",
    Listed(
        "go-network",
        "network_blip",
        CAUSE,
        r"(?:i/o timeout$|tls handshake timeout|kind: (?:connect|request)\b.{0,200}\b(?:connecterror|timedout|dns error"
        r"|connectionrefused)|http2: (?:server sent goaway|client connection lost)|kind: timedout)",
        "panic: read tcp 10.0.0.1:1->10.0.0.2:443: i/o timeout",
    ),
    Listed(
        "go-data",
        "data_error",
        CAUSE,
        r"(?:unexpected eof$|invalid character '.{1,8}' (?:looking for|after|in)|zip: not a valid|gzip: invalid"
        r"|bzip2 data invalid"
        r"|tar: invalid|utf8error \{|unequallengths \{|invaliddata\b|error\(\"(?:expected|invalid"
        r"|missing field|unknown field|eof while)"
        r"|csv: .{0,20}record on line)",
        "panic: zip: not a valid zip file",
    ),
    Listed(
        "go-setting",
        "config_error",
        CONFIG,
        r"flag (?:provided but not defined|needs an argument)|cannot find main module|go\.mod file not found",
        "panic: flag provided but not defined: -lrr",
    ),
)

NODE: tuple[RuleRow, ...] = rows(
    r"^(?:uncaught |unhandled )?(?:\w{0,40}error(?: \[\w{1,60}\])?: )?{}",
    "socket hang up|fetch failed|getaddrinfo|connect e|read e|write e|terminated|jwt ",
    "Node: messages of its network and TLS layers",
    Listed(
        "node-network",
        "network_blip",
        CAUSE,
        r"socket hang up$|fetch failed$|getaddrinfo e\w{3,12} |(?:connect|read|write) e(?:conn\w{3,8}|timedout|pipe"
        r"|hostunreach|netunreach)\b",
        "Error: socket hang up",
    ),
    Listed("node-token", "auth_error", CAUSE, "jwt (?:expired|malformed)", "Error: jwt expired"),
)

RUBY: tuple[RuleRow, ...] = rows(
    r"\({}\)$",
    "::|interrupt)|memoryerror)|socketerror)|eoferror)",
    "Ruby: the class behind the message",
    Listed(
        "ruby-network",
        "network_blip",
        CAUSE,
        r"net::\w{1,40}|timeout::\w{1,24}|socketerror|errno::e(?:conn\w{3,8}|timedout|hostunreach|netunreach|pipe)"
        r"|faraday::\w{1,40}|http::(?:timeout|connection)\w{0,12}|httparty::\w{1,24}",
        "/a.rb:12:in `run': execution expired (Net::OpenTimeout)",
    ),
    Listed(
        "ruby-data",
        "data_error",
        CAUSE,
        r"json::\w{1,40}|zlib::\w{1,40}|csv::\w{1,40}|nokogiri::\w{1,40}(?:::\w{1,40})*|encoding::\w{1,40}|eoferror",
        "/a.rb:12:in `run': 783: unexpected token at '<html>' (JSON::ParserError)",
    ),
    Listed("ruby-memory", "host_oom", CAUSE, r"nomemoryerror", "/a.rb:12:in `run': failed (NoMemoryError)"),
)

R_LANGUAGE: tuple[RuleRow, ...] = rows(
    r"^error in .{1,120}: ?\s?{}",
    "error in ",
    "R: messages of its base packages",
    Listed(
        "r-data",
        "data_error",
        CAUSE,
        r"(?:more columns than column names|line \d{1,9} did not have \d|duplicate 'row.names'|unknown input format"
        r"|error reading from connection|no lines available|invalid multibyte|na/nan/inf in|empty (?:beginning|file)"
        r"|arguments imply differing number of rows|incomplete final line|embedded nul"
        r"|(?:\S{1,30} (?:has|have|contains?) )?(?:missing values|na values|nas)\b(?! or)|variable lengths differ)",
        "Error in read.table(file = f) : more columns than column names",
    ),
    Listed(
        "r-network",
        "network_blip",
        CAUSE,
        r"(?:cannot open url|could not resolve host|timeout was reached|failed to connect|internet routines cannot"
        r"|http(?:/2)? stream|recv failure)",
        "Error in download.file(u, f) : cannot open URL 'https://h/x'",
    ),
)

CPP: tuple[RuleRow, ...] = rows(
    r"\bterminate called after throwing an instance of '{}",
    "terminate called",
    "C++: the type of what nobody caught",
    Listed(
        "cpp-setting",
        "config_error",
        CONFIG,
        r"yaml::\w|toml::\w|ini\w{0,12}::\w|libconfig::\w|cxxopts::\w|cli::\w"
        r"|boost::wrapexcept<boost::program_options::"
        r"|boost::program_options::",
        "terminate called after throwing an instance of 'YAML::BadFile'",
        True,
    ),
    Listed(
        "cpp-data",
        "data_error",
        CONFIG,
        r"nlohmann::\w.{0,60}parse_error|rapidjson::\w|simdjson::\w|h5::\w|pugi::\w|google::protobuf::\w",
        "terminate called after throwing an instance of 'H5::FileIException'",
        True,
    ),
    Listed(
        "cpp-network",
        "network_blip",
        CONFIG,
        r"grpc::\w|zmq::\w|curlpp::\w|boost::wrapexcept<boost::system::system_error>|asio::\w",
        "terminate called after throwing an instance of 'zmq::error_t'",
        True,
    ),
)

OTHERS: tuple[RuleRow, ...] = (
    RuleRow(
        "out-of-memory-bare",
        "host_oom",
        CAUSE,
        "heap exhausted|out of memory|error allocating|allowed memory size|heap out of|outofmemory|memory exhausted",
        r"^out of memory!$|^error allocating \d{1,20} bytes|\ballowed memory size of \d{1,20} bytes exhausted"
        r"|\bheap out of memory\b|\bSystem\.OutOfMemoryException\b|^heap exhausted\b|^(?:ld|cc1\w{0,8}"
        r"|as): .{0,40}memory"
        r" exhausted",
        "Perl, gfortran, PHP, Node, .NET, Lisp",
        "Error allocating 80000000000 bytes",
        True,
    ),
    RuleRow(
        "build-setting",
        "config_error",
        CONFIG,
        "no rule|cannot find main module|no targets|missing separator|missing script|no input files|externally-managed"
        "|linker `|could not get lock"
        "|no main manifest|could not find or load|unknown compiler option|there is no pom",
        r"^g?make(?:\[\d{1,3}\])?: \*{3} no (?:targets|rule)|: \*{3} missing separator"
        r"|^npm (?:err!|error) missing script"
        r"|\bfatal error: no input files\b|\bexternally-managed-environment\b|\blinker `\S{1,80}` not found"
        r"|^go: cannot find main module\b|\bthere is no POM in this directory\b"
        r"|\bno main manifest attribute\b|\bcould not find or load main class\b|\bunknown compiler option\b",
        "make, npm, gcc, pip, rustc, java, tsc",
        "make: *** No targets specified and no makefile found.  Stop.",
    ),
    RuleRow(
        "package-missing",
        "code_error",
        BUG,
        "there is no package called|cannot find module|cannot load such file|module '|not found in current path",
        r"\bthere is no package called\b|\bpackage \w{1,80} not found in current path\b|\bError: Cannot find module '"
        r"|\bcannot load such file -- "
        r"|^lua\S*: .{0,200}\bmodule '\S{1,80}' not found:",
        "R, Julia, Node, Ruby, Lua: what Python tells as ModuleNotFoundError",
        "Error in library(lme9) : there is no package called 'lme9'",
    ),
    RuleRow(
        "package-lock",
        "permission_error",
        CAUSE,
        "could not get lock",
        r"^e: could not get lock\b",
        "apt: another one holds the lock",
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 3121 (apt)",
    ),
    RuleRow(
        "archives-unreachable",
        "network_blip",
        CAUSE,
        "failed to fetch|unable to fetch|conda",
        r"^e: (?:failed to fetch|unable to fetch some archives)(?!.{0,200}404)|\bCondaHTTPError\b",
        "apt, conda",
        "E: Unable to fetch some archives, maybe run apt-get update?",
    ),
    RuleRow(
        "compiler-error",
        "code_error",
        BUG,
        ".go:|undefined: |locate |not declared|declared and not used|imported and not used|cannot use ",
        r"^\S{1,200}\.go:\d{1,7}:\d{1,5}: \S|^can't locate \S{1,120}\.pm in @inc\b",
        "go, perl",
        "main.go:12:2: undefined: x",
    ),
)
