"""What the sentences of each class are about, and what is wrong then; `meaning.py` counts these words. Pure."""

from __future__ import annotations

from onbox.named_tuple import NamedTuple


class Theme(NamedTuple):
    """things, troubles: what the sentences of a class are about, and what is wrong then; regular expressions of whole
    words (`_words`). weight: for how much more the class counts where both are named, because its words are rare
    elsewhere. sayings: phrases that name both at once.
    """

    failure_class: str
    things: str
    troubles: str
    weight: int = 0
    sayings: str = "(?!)"


_BROKEN = (
    r"corrupt\w*|damag\w+|broken|truncat\w+|mismatch\w*|do(?:es)? not match|did not match"
    r"|incomplete|integrity|inconsistent|checksum|crc(?:32c?)?|digest|magic|malformed|unreadable"
    r"|(?:could not|cannot|unable to|failed to) read|end of file|unexpected eof"
    r"|unparsable|could not parse|cannot parse|failed to parse|parse error|parsing|unexpected end"
    r"|premature|short read|(?:beyond|past) (?:the )?end of|expected .{0,40}(?:but|got|found|received|read|has|have"
    r"|is|are)"
    r"|(?:got|found|received|read) .{0,30}expected|bad|invalid|incorrect|not valid|garbage|zero bytes|0 bytes|empty"
    r"|unpickling|invalid argument|header|footer|out of range|not (?:readable|a valid|a zip)"
    r"|not an? (?:\w+ ){1,2}(?:image|file|archive|database|stream)|deserializ\w*"
    r"|(?:found|have|has|had|got|read) .{0,60}but .{0,60}(?:has|have|had|expected|found)"
    r"|did not have|too (?:short|long|few|many)"
    r"|decod\w+|undecodable"
)
_GONE = (
    r"(?:fail(?:ed|s)? to|could not|cannot|unable to) (?:find|locate|open)|(?:open|opening) failed|failed opening"
    r"|missing|not found|not there|absent|gone|lost|do(?:es)? not (?:exist|contain)|contains? no|no such|there is no"
    r"|nowhere|never loaded"
)
_LACKING = (
    r"out of|exhaust\w*|exceed\w*|insufficient|not enough|too (?:large|big|little|small|low)|limit|fail\w*"
    r"|cannot|could not|unable|no room|ran out|runs? out|full|short of|over(?:run|flow)\w*|pressure"
    r"|no (?:more )?free|needs? .{0,40}(?:but|only)"
)
_CARDS = (
    r"gpus?|cuda|vram|rocm|hip|xpus?|hpus?|npus?|habana|gaudi|synapse|synstatus|ascend|neuron|opencl|sycl|metal"
    r"|vulkan|accelerators?|graphics cards?"
    r"|nvidia|device memory|kv cache|gfx\w+|sm_\d+"
)
_SAVED = (
    r"checkpoints?|ckpts?|weights?|snapshots?|state dict|optimi[sz]er state"
    r"|model (?:file|proto|state|archive)|saved (?:model|file|state|policy)|savedmodel|restor\w+|resum\w+"
    r"|tokenizer\.model|pretrained|tensors?|params?|(?<!at )(?<!in )(?:step|epoch) \d+"
    r"|\S+\.(?:pt|pth|ckpt|safetensors|gguf|msgpack|orbax|h5|keras|pb|onnx|npz|model|distcp|pkl)|ocdbt"
    r"|tensorstore|modelproto"
)
# Parts of a table, and what is wrong with one: a header of a protocol, a file format, a compiler is another thing.
_TABLE_PART = (
    r"(?:(?:use)?col(?:umn)?s?(?: names?)?(?! major| of data)"
    r"|(?<!http )(?<!authorization )(?<!auth )(?<!request )(?<!response )(?<!elf )(?<!zip )(?<!gzip )(?<!tls )"
    r"(?<!content type )header(?: row| line| names?)?(?! file| or archive| value| too| size| length| crc"
    r"|.{0,60}\.h(?:pp|xx)?\b))"
)
_TABLE_TROUBLE = (
    r"(?:missing|absent|required|mandatory|unexpected|expected|wrong|bad|invalid|malformed|duplicated?|unknown|empty"
    r"|not (?:found|present|there|in)|no such|lacks?|too (?:few|many)|mismatch\w*"
    r"|(?:do(?:es)?|did) not (?:match|contain|have|exist)|has no|have no|must (?:have|contain|include|be present))"
)
_COUNTED = r"(?:fields|columns|values|tokens|entries|cells)"
_TABLE = (
    rf"{_TABLE_PART}\b(?:.{{0,40}}\W)?{_TABLE_TROUBLE}|{_TABLE_TROUBLE} (?:\w+ ){{0,3}}{_TABLE_PART}"
    rf"|(?:line|row|record) \d+\b.{{0,60}}\W{_COUNTED}|{_COUNTED} (?:.{{0,40}}\W)?(?:line|row|record) \d+"
)
THEMES: tuple[Theme, ...] = (
    Theme(
        "network_blip",
        r"brokers?|servers?|hosts?|endpoints?|services?|api|gateway|proxy|dns|sockets?|connect\w*|network"
        r"|remote|upstream|tracker|registry|mirror|hub|bucket|https?|urls?|grpc|amqps?|redis|kafka|rabbitmq"
        r"|mqtt|s3|gs|ssh|rsync|scp|sftp|client|tcp|request|response"
        r"|clusters?|kubernetes|kubectl|download|upload|tries|retries|handshake|tls|ssl",
        r"unavailable|unreachable|refused|reset|time[ds]? ?out|timeout|lost|giving up|gave up|given up"
        r"|disconnect\w*|broken pipe|closed|(?<!shut )(?<!shutting )(?<!going )down|no (?:answer|response|route|reply)"
        r"|not (?:respond\w*|reachable|answer\w*)"
        r"|(?:could not|cannot|failed to|unable to) (?:reach|connect|resolve|fetch|download|contact)"
        r"|overloaded|throttl\w+|rate limit\w*|too many requests|50[0234]|fail(?:ed|ure|s)?|exhausted|retry limit",
        sayings=r"(?:server|peer|remote|remote end) (?:has )?(?:disconnected|closed the connection|hung up|went away)"
        r"|no (?:\w+ )?(?:brokers?|servers?|hosts?|endpoints?|upstreams?) (?:are |is )?available"
        r"|(?:could not|cannot|failed to|unable to) (?:open|establish|make|get) (?:a )?(?:new )?connection"
        r"|(?:could not|cannot|failed to|unable to) (?:fetch|download) |\bstore unreachable"
        r"|context deadline exceeded|request (?:exceeded|timed out)|dial tcp|(?:unknown|no such) host|no route to host"
        r"|network is (?:unreachable|down)|name or service not known|(?:could not|cannot) resolve (?:host\w*|address)"
        r"|all (?:\w+ ){1,3}(?:are |is )?(?:unresponsive|unreachable)|connection (?:refused|timed out|reset)",
    ),
    Theme(
        "auth_error",
        r"credentials?|(?:access|auth\w*|api|hf|bearer|refresh|security|session|user|identity|your) tokens?"
        r"|tokens?(?= (?:has |is |was )?(?:expired|revoked|refused|denied|not valid))|api keys?|secrets?|logins?"
        r"|passwords?|passphrase|auth\w*|roles?|identity"
        r"|licen[sc](?:es?|ed)|hostid|access|iam|signature|account|vault|certificate|kerberos|tickets?|scope"
        r"|subscription"
        r"|seats?|users",
        r"expired|lapsed|refus\w+|den(?:y|ied)|reject\w+|revoked|forbidden|not allowed|may not|unauthori[sz]ed"
        r"|unauthenticated|not authori[sz]ed|invalid|no valid|not valid|not logged|required|wrong|incorrect"
        r"|(?:licen[sc]e|host ?id) mismatch|checkout failed|no .{0,24}(?:seats|licen[sc]es?)"
        r"|maximum number of (?:users|seats)"
        r"|missing|insufficient scope|40[13]|necessary|not granted|lacks?|verification failed|disabled"
        r"|not (?:correctly |properly )?(?:found|set ?up|set|configured)"
        r"|could not (?:get|find|load|retrieve|obtain|locate)",
        1,
        r"login (?:was )?(?:incorrect|failed|denied|invalid)"
        r"|(?:necessary|required|sufficient|insufficient|lacks?|grant) (?:\w+ ){0,3}permissions?|prompts? (?:is "
        r"|are )?disabled|could not read (?:user ?name|password)",
    ),
    Theme(
        "permission_error",
        r"permissions?|write|writ\w+|owne[dr]\w*|chmod|chown|read ?only|mode|directory|folder|path|mount",
        r"denied|not permitted|dubious|changes? not allowed|may not|not writable|unwritable"
        r"|read ?only file ?system|not owned"
        r"|owned by (?:root|another)|(?:unable|cannot|could not|failed) to (?:correct|change|set|fix|modify) (?:the )?"
        r"(?:permissions?|mode|owner\w*)|(?:cannot|could not|failed to) (?:chmod|chown)",
    ),
    Theme(
        "disk_full",
        r"disks?|space(?! (?:on|in|for) (?!device|disk|/))|volumes?|storage|file ?systems?|partitions?|scratch"
        r"|bytes free|free bytes|mount",
        r"full|no (?:\w+ )?(?:left|free)|not enough|insufficient|ran out|out of|exhaust\w*"
        r"|needs? .{0,40}(?:but|only)|too little|low|used up|100 ?%",
        1,
    ),
    Theme(
        "quota_exceeded",
        r"(?<!memory )(?<!cpu )(?<!ram )quotas?",
        r"exceed\w*|reached|exhaust\w*|over|full|hit|used up",
        2,
        r"(?:insufficient|not enough|negative|needs? (?:a )?positive) (?:account |credit )?(?:balance|credits?|funds)"
        r"|credit balance is too low|out of credits|payment required|billing (?:hard )?limit",
    ),
    Theme(
        "inode_exhausted",
        r"inodes?",
        rf"{_LACKING}|no .{{0,20}}left|used up",
        3,
    ),
    Theme(
        "shm_too_small",
        r"shm|shared memory|/dev/shm",
        rf"{_LACKING}",
        3,
    ),
    Theme(
        "tpu_hbm_oom",
        r"hbm|tpu memory|(?<!h_)vmem",
        rf"{_LACKING}",
        3,
    ),
    Theme(
        "cuda_oom",
        rf"{_CARDS}|batch ?sizes?|per device|cuda malloc",
        r"out of (?:\w+ )?memory|oom"
        r"|memory .{0,30}(?:exhaust\w*|insufficient|exceed\w*|too (?:large|small|low))"
        r"|not enough (?:\w+ )?memory|\w{0,8}alloc\w* .{0,30}fail\w*|fail\w* .{0,30}alloc\w*|fail\w* .{0,30}malloc"
        r"|insufficient (?:\w+ )?memory",
        2,
    ),
    Theme(
        "host_oom",
        r"memory|ram|heap|rss|mallocs?|alloc\w*|swap|mmap|oom",
        rf"{_LACKING}|killed|kill|cannot allocate|oom",
    ),
    Theme(
        "checkpoint_corrupt",
        _SAVED,
        rf"{_BROKEN}|{_GONE}|cannot (?:be )?(?:read|load|restor)\w*|fail\w* to (?:read|load|restor)\w*",
        sayings=r"(?:model|checkpoint|weights?) (?:file )?format (?:error|mismatch|unknown)",
    ),
    Theme(
        "data_error",
        r"data ?sets?|data|samples?|records?|rows?|columns?|shards?|examples?|labels?|images?|csv|jsonl?"
        r"|manifest|features?|corpus|files?|objects?|entries|topology|geometry|mesh|coordinates|genome|line \d+"
        r"|cohorts?|audio|video|waveforms?|clips?|reads?|fastq|fasta|bam|vcf|netcdf|hdf5?|grib|attributes?|fields?"
        r"|index(?:es)?|indices|databases?|annotations?|frames?|utterances?|documents?|archive|tar|parquet"
        r"|arrow|tfrecord|inputs?|schema|vocab\w*"
        r"|\S+\.(?:csv|jsonl?|tar|tgz|gz|zst|parquet|arrow|tfrecord|jpe?g|png|wav|mp4|flac|txt|bin|idx|npy|lmdb|mdb"
        r"|xml|nc|grb2?)",
        rf"{_BROKEN}|{_GONE}|duplicat\w+|unexpected|unlabel\w+|(?:is|are|found|has|contains?) negative"
        rf"|must be .{{1,40}} but (?:got|found|was)|(?:has|have) (?:a )?length (?:of )?0|(?:all )?nan|not finite"
        rf"|(?:unknown|wrong|unsupported) (?:file )?format|non numeric|incompatible"
        rf"|unsupported|ambiguous"
        r"|0 (?:samples?|rows|records|images|files|cells|points|entries|lines|items|examples|documents|sequences|pairs"
        r"|reads|frames|vertices|elements|atoms)\b|no (?:\w+ ){0,2}(?:samples|rows|records|examples|data|images"
        r"|files|labels|utterances|documents|sequences"
        r"|columns?)",
        sayings=rf"{_TABLE}|(?:integrity|verification|checksum|digest|hash|crc) (?:check )?(?:failed|failure|mismatch)"
        r"|(?:blob|block|chunk|pack|hash|digest|id) \w{0,16} ?does not match|want(?:ed)? \S{1,80},? (?:but )?got \S+"
        r"|(?:wrong|bad|unknown) (?:\w+ )?format (?:at|in|on) line \d+|unpack failed|un ?equal ?lengths"
        r"|(?:unknown|unexpected|invalid|stray) (?:token|character|symbol) .{1,40} in (?:\w+ )?file"
        r"|n(?:um)? samples\s?=\s?0|contains only (?:one|a single) class|(?:dataset|data set|dataframe) is empty"
        r"|(?:dataset|data set|dataframe) has length 0"
        r"|features (?:are|is) .{0,20}(?:constant|ignored)|(?:csv|quoted) field"
        r"|(?:pdb\w*|xml|sdf|mol2|fast[aq]|gff|gtf|vcf|sam|bed) (?:file )?pars(?:e|ing) error"
        r"|(?:row|record|sample|example|entry) \d+:? (?:cannot|could not|failed to) (?:be )?(?:pars|decod|read"
        r"|convert)\w*"
        r"|(?:extra|missing) data (?:after|for) .{0,30}column|out of specification"
        r"|invalid character '.{1,8}' (?:looking for|after|in)"
        r"|(?:file|archive|stream|header) must (?:start|begin|end) with",
    ),
    Theme(
        "config_error",
        r"config\w*|settings?|options?|flags?|arguments?|parameters?|param|hyper ?param\w*|yaml|toml|ini|keys?"
        r"|fields?|environment variables?|env vars?|environments?|modules?|partitions?|queue"
        r"|presets?|profiles?|recipes?|spec|choices?|batch ?size\w*|dependenc\w+|requirements?|solving|requested"
        r"|specified|chosen|slots?|package|style|resources in the cluster"
        r"|namelists?|keywords?|input (?:line|file|section)|encoders?|decoders?|codecs?|filters?"
        r"|micro ?batch\w*|usage|schedule|\-\-[a-z][\w-]+|(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+)",
        r"invalid|unknown|missing|not found|could not find|required|must|should be|not allowed"
        r"|unsupported|conflict\w*|incompatible"
        r"|not set|unset|undefined|not recogni[sz]ed|unrecogni[sz]ed|illegal|divisible|mutually|either|neither"
        r"|only|cannot be|not (?:a )?valid|misconfigur\w+|contradict\w*|not defined|not supported|exactly one"
        r"|at least one of|expected one of|compulsory|mandatory|unsatisfi\w+|nothing provides|could not solve"
        r"|not enabled|not enough|is needed|are needed|not part of|too (?:small|short|long)|bad|syntax error"
        r"|not equal to|refers to|untermin\w+|unbalanced|could not parse|cannot parse|failed to parse|malformed"
        r"|error (?:while )?(?:parsing|reading|loading)",
        sayings=r"mutually exclusive|requires? [`'\"]?(?:--\w|[\w-]+[`'\"]?=)|(?:cannot|may not"
        r"|must not) be (?:used|combined|set|specified)"
        r" (?:with|together|at the same time)|(?:unknown|unrecogni[sz]ed|undefined|unsupported|invalid|illegal"
        r"|no such|bad)(?: \w+){0,1}"
        r" (?:options?|commands?|sub ?commands?|keywords?|directives?|parameters?|settings?|fields?|flags?"
        r"|styles?|encoders?|decoders?|filters?|plugins?|methods?|sections?|switch(?:es)?|functional"
        r"|basis set)|(?:unknown|unrecogni[sz]ed|unsupported) arguments?|did you mean|bad line in"
        r"|unable to locate package|(?:not|no) (?:a )?recogni[sz]ed"
        r"|missing input files for rule|(?:not|must) (?:match|equal) (?:the )?number of (?:mpi )?(?:ranks|processes"
        r"|tasks)"
        r"|no rule to make target|is not expected here|invalid choice|a bad value"
        r"|could not find or load main class"
        r"|(?:cannot|could not) find (?:the )?(?:requested|script|settings?|config\w*|include|module) file"
        r"|no such (?:module|plugin|\w+ (?:named|called))|(?:section|entry|remote) in (?:the )?config file"
        r"|no alias or index file found"
        r"|unknown (?:solver|optimi[sz]er|scheduler|objective|metric|backend|algorithm|policy|strategy"
        r"|activation|loss)(?: type| name)?",
    ),
    Theme(
        "cuda_env",
        rf"{_CARDS}|(?:display|gpu|graphics|kernel) drivers?|driver(?= (?:version|is|too|init|library))|toolkit"
        rf"|nvcc|compute capability|sm_?\d\d\d?|cudnn|tensorrt"
        r"|nccl|rocblas|hipblas\w*|miopen|cublas\w*|shared object|\S+\.so[\w.]*"
        r"|glibc\w*"
        r"|instruction set|avx\w*",
        r"not found|init\w{0,12} failed|failed to (?:obtain|get|query)"
        r"|no (?:usable|suitable|supported|compatible|working)|no .{0,48}(?:found|available|detected"
        r"|visible|present)|found (?:0|no|none)|found only"
        r"|0 (?:devices|gpus|cards)|needs? at least|requires?|too old|unsupported|not supported|not available"
        r"|unavailable|insufficient|incompatible|could not (?:load|find|open|initiali[sz]e)"
        r"|different (?:\w+ )?versions?|versions? .{0,40}(?:differ|mismatch\w*|do not match|too old)"
        r"|cannot (?:open|load|find|read|use)|no such|failed to (?:load|initiali[sz]e)|mismatch\w*"
        r"|(?:built|compiled|installed|linked|configured) without|without .{0,30}(?:support|enabled)"
        r"|not (?:built|compiled|linked)|cpu only|missing|none (?:is|are|was|were) (?:visible|found)"
        r"|not implemented for|(?:below|older than|lower than|at least) version"
        r"|no registered|not registered|not visible|not installed"
        r"|no \w+ support|acquire failed|fail\w* to acquire|already acquired|not acquired",
        1,
        r"devices? (?:is|are|was) (?:not |un)available|drivers? (?:is|was|are|were) not (?:installed|loaded|found)"
        r"|incompatible (?:compute )?devices?",
    ),
    Theme(
        "gpu_hardware",
        rf"{_CARDS}|ecc|nvlink|nvswitch|xgmi|pcie|hbm|cards?|gpu bus|fabric manager|dimm|memory controller",
        r"fallen off|is lost|uncorrect(?:able|ed)|double bit|machine check|poison\w*|hung|hang|overheat\w*|thermal"
        r"|(?:needs|requires) (?:a )?reset"
        r"|xid|hardware (?:error|fault|failure)|power brake|row remap\w*",
        3,
    ),
    Theme(
        "nccl_or_distributed",
        r"ranks?|barriers?|collectives?|all ?reduce|all ?gather|broadcast|rendezvous|process group|peers?|mpi"
        r"|nccl|gloo|ucx|quorum|communicators?|world size|stragglers?|heartbeats?|coordinator|leader|replicas?"
        r"|followers?|ring|(?:another|other) process(?:es)?|daemons?",
        r"never (?:arriv\w+|came|reached|joined|answered|reported)|time[ds]? ?out|timeout|lost"
        r"|not (?:respond\w*|answer\w*|arriv\w*|join\w*)|unreachable|disconnect\w*|abort\w*|stuck|dead|gone|missed|left"
        r"|closed|no (?:answer|response|reply|word)|no \w{1,20} (?:for|since|in) \d+"
        r"|(?:could not|failed to) (?:\w+ ){1,3}connection|cannot connect"
        r"|did not (?:join|arrive|answer|report)|only \d+ of \d+|silent|vanish\w*",
        1,
        r"not all (?:\w+ )?(?:machines|workers|ranks|hosts|peers)\b.{0,40}\b(?:connected|joined|reached|answered)",
    ),
    Theme(
        "preempted",
        r"instances?|spot|nodes?|vms?|machines?|hosts?|slots?|allocations?|lease|capacity|pods?|preempt\w*|job"
        r"|reservation|this (?:machine|node|vm)",
        r"taken (?:back|away)|reclaim\w*|preempt\w*|evict\w*|revoked|going away|maintenance|drain\w*"
        r"|interruption|will be (?:stopped|shut|terminated)|shut ?down notice|two minute|notice"
        r"|higher priority|withdrawn",
        1,
    ),
    Theme(
        "time_limit",
        r"\d+(?:\.\d+)?\s?h(?:\d{1,2}m)?|time (?:limit|budget)|wall ?time|wall ?clock|(?<!context )deadline"
        r"|run ?time|allotted time"
        r"|max\w* (?:duration|hours)|time|hours|minutes",
        r"exceed\w*|reached|expired|is over|is up|ran out|out of time|hit|used|used up"
        r"|over (?:the|its) limit|past",
        sayings=r"command .{0,200} timed out after \d+(?:\.\d+)? (?:seconds|minutes|hours)"
        r"|(?:ended|stopped|killed|terminated) by (?:the )?(?:queue|wall ?time|time) ?limit"
        r"|(?:the )?time is (?:up|over)",
    ),
    Theme(
        "divergence",
        r"simulation|scf|solver|newton|loss\w*|gradients?|grad ?norm\w*|norm|rewards?|energy|residuals?|weights"
        r"|activations?|solution"
        r"|pressure|temperature|objective|training|perplexity|optimi[sz]er|integrator|time ?step|z ?loss"
        r"|router|entropy|logits|likelihood|coordinates?|particles?|positions?|velocit\w+|forces?|atoms?",
        r"(?:not|no|never) converg\w+|(?:did not|failed to) converge"
        r"|nans?(?! or inf)|inf(?:inite|inity)?|not finite|non ?finite|explo\w+|diverg\w+|blew up|blown up|unstable"
        r"|instability"
        r"|overflow\w*|spik\w+|above .{0,20}(?:for|limit|threshold)|too large|collapsed?|not a number"
        r"|out of bounds",
        1,
        r"(?:not|no|never|fail\w*(?: to)?|without) (?:\w+ ){0,2}converg\w+|\bmax\w* (?:number of )?iterations exceeded"
        r"|convergence (?:\w+ ){0,2}(?:fail\w*|problem\w*|not|lost|was not|has not)|(?:has|have|is|was) diverg\w+"
        r"|non finite|divergence (?:was )?detected|nans? (?:was |were )?(?:detected|found|encountered)"
        r"|(?:detected|found|encountered|produced|hit) (?:an? )?nans?"
        r"|became unstable|blowing up|nan/inf|inf/nan|(?:grow|ris|increas)\w* without (?:any )?(?:bound|limit)s?"
        r"|keeps (?:growing|rising|increasing)"
        r"|nan at (?:it\w*|step|t|time)|invalid number in"
        r"|too many attempts made for this increment|fail\w* to find a solution"
        r"|(?:newton|nonlinear|nonlinear solver) .{0,20}(?:failed|diverged)|dt.{0,24}dtmin|blew up|blown up"
        r"|cannot be accomplished|exceeded cfl|cfl (?:condition|limit|number) .{0,24}(?:violated|exceeded)",
    ),
    Theme(
        "port_in_use",
        r"ports?|address|bind|sockets?|listen\w*",
        r"(?:fail\w*|cannot|could not|unable) to (?:bind|listen)|failed (?:binding|listening)|cannot bind|in use"
        r"|taken|occupied|already|busy|bound|held by",
        2,
    ),
    Theme(
        "user_interrupt",
        r"user|q pressed|as (?:asked|requested)|on request"
        r"|ctrl c|operator(?! ['\"`]| \w{1,20}::)|keyboard|sigint|by hand|manual\w*|admin\w*|person|owner",
        r"interrupt\w*|stop\w*|cancel\w*|abort\w*|(?<!pull )(?<!free to )request\w*|pressed|asked|quit|kill\w*",
        1,
    ),
)
