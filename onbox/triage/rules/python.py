"""Rows about programs: numbers that are lost, settings that are wrong, exceptions that name a defect. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE, CONFIG, DIVERGED, SUMMARY, VAGUE, RuleRow

# Of the Test Anything Protocol: a case that failed, and was not known to.
FAILED_CASE = r"^not ok(?: \d{1,6}\b| - )(?!.{0,200}# (?:TODO|SKIP))"

NUMBERS: tuple[RuleRow, ...] = (
    RuleRow(
        "not-finite",
        "divergence",
        DIVERGED,
        "nan|invalid value|inf |inf,|inf/|inf.|inf)|inf`|infini|diverg|loss scale|floatingpointerror"
        "|non-finite|not finite|invalid loss|isfinite|exploded|overflow|nonfinite|loss_scale|unstable",
        r"\bloss\w{0,24}['`\"]? (?:is|was|became|went|turned|has become|returned in.{0,40} is)(?: \w{1,40})? ?(?:nan"
        r"|inf|not finite|non-?finite|infinite)\b|(?:detected|encountered|got|found|hit|saw)\W{1,3}(?:a "
        r"|an )?(?:\w{1,40} )?(?:nan|inf(?:inite)?|non-?finite)\w{0,8}\b.{0,30}\b(?:loss|grad)"
        r"|(?:nan|inf|non-?finite)(?:/inf| or inf)? (?:\w{1,40} )?(?:loss|grad\w{0,24})\b.{0,40}(?:detected|encountered"
        r"|found|abort|stop|exit|terminat)|returned nan values|(?:minimum|min) loss scale reached"
        r"|loss scale already at minimum|FloatingPointError|loss (?:has )?(?:diverged|exploded)"
        r"|invalid loss, terminating|\bmetric \S{1,60} = -?(?:nan|inf) is not finite\b"
        r"|(?:training|model|run|optimi[sz]ation) (?:has |is |had )?(?:diverged|diverging"
        r"|numerically unstable)|probability tensor contains either|contains invalid numeric entries"
        r"|invalid value \(?nan\)? encountered|found invalid values:|non-?finite (?:loss|grad\w{0,24}|norm"
        r"|values?)\b.{0,60}(?:stop|abort|exit|rais|cannot|:|,)"
        r"|total norm.{0,80}is non-finite|cannot be clipped|(?:nans?|inf)(?: or (?:inf\w{0,24}|nan))? (?:was "
        r"|were |values? )?(?:detected|found|encountered|seen|appeared) in (?:the )?(?:training "
        r"|total )?(?:loss|grad\w{0,24}|param\w{0,24}|weights?|output|logits|activations?)|loss:? (?:nan"
        r"|inf)\b.{0,40}(?:stop|abort|exit|terminat)|NonFinite\w{0,24}|NanLoss\w{0,24}|model diverged with loss"
        r"|^\W{0,4}\w{1,40} is (?:nan|inf(?:inite)?)\b"
        r"|\b(?:\w{1,30}_error|objective|cost) (?:is|was|became) (?:not finite|non-?finite)\b"
        r"|\bcontains nan(?: or inf)?\b.{0,12}\bstop training\b"
        r"|\bEncountered ?NaN|assert.{0,30}isfinite|\bmonitored metric.{0,80} is not finite|cannot decrease scale",
        "PyTorch anomaly mode, fairseq, Keras, TensorFlow, Lightning",
        "ValueError: Loss is nan, stopping training",
    ),
    RuleRow(
        "start-values",
        "divergence",
        DIVERGED,
        "starting point failed|initialization between|valid initial param|initial log joint",
        r"\binitial evaluation of model at starting point failed\b"
        r"|\binitialization between .{1,40} failed after\b|\b(?:cannot|could not|failed to) find valid initial param"
        r"|\binitial log joint (?:probability|density) is (?:not finite|nan|-?inf)",
        "PyMC, Stan, NumPyro, Turing: the model gives no number where sampling is to begin",
        "pymc.exceptions.SamplingError: Initial evaluation of model at starting point failed!",
        rivals=("data_error", "config_error"),
    ),
    RuleRow(
        "simulation-unstable",
        "divergence",
        DIVERGED,
        "lost atoms|non-numeric|lincs warnings|atoms missing|out of range atoms|sigfpe|blew up|blown up|blowing up"
        "|fatal error in bracketing|time step|timestep|cfl|negative volume|negative density|negative pressure",
        r"\b(?:too many lincs warnings|non-numeric (?:pressure|atom coords|box dimensions|positions)"
        r"|out of range atoms - cannot compute|fatal error in bracketing|sigFpe::sigHandler"
        r"|(?:solution|simulation|system|run) (?:has )?(?:blew|blown|blowing) up)"
        r"|\b(?:error|fatal)\b.{0,40}\b(?:lost atoms|atoms missing|negative (?:cell )?(?:volume|density|pressure))"
        r"|^lost atoms: original \d"
        r"|\b(?:time ?step|dt)\b.{0,30}\b(?:too small|below (?:the )?minimum|underflow)",
        "GROMACS, LAMMPS, OpenFOAM, VASP, and solvers of their own",
        "ERROR: Lost atoms: original 4000 current 3981 (src/thermo.cpp:494)",
        True,
    ),
)

SIMULATIONS: tuple[RuleRow, ...] = (
    RuleRow(
        "solver-settings",
        "config_error",
        CONFIG,
        "foam fatal io|domain decomposition|error in user input|in input file|invalid command-line|error: illegal ",
        r"--> FOAM FATAL IO ERROR|there is no domain decomposition for|^error in user input\b|\berrors? in input file"
        r"|^invalid command-line options\b|^error: illegal .{1,60} command \(src/",  # LAMMPS
        "OpenFOAM, GROMACS",
        "--> FOAM FATAL IO ERROR:",
        True,
    ),
    RuleRow(
        "not-converged",
        "divergence",
        DIVERGED,
        "convergence",
        r"\bconvergence (?:is |was |has )?not (?:been )?(?:achieved|reached)\b.{0,60}(?:stopping|abort|giving up)",
        "Quantum ESPRESSO",
        "convergence NOT achieved after 100 iterations: stopping",
        True,
    ),
    RuleRow(
        "solver-failed",
        "code_error",
        BUG,
        "foam fatal error|error",
        r"--> FOAM FATAL ERROR|^ERROR(?: on proc \d+)?: .{4,300}\([\w./-]+\.(?:cpp|cc|c|h|f90):\d+\)$",
        "OpenFOAM, LAMMPS",
        "ERROR on proc 7: Unknown neighbour flag in this build (src/neigh.cpp:210)",
        True,
    ),
    RuleRow(
        "fortran-read",
        "data_error",
        CAUSE,
        "fortran runtime error|forrtl",
        r"fortran runtime error: (?:end of (?:file|record)|bad (?:real|integer|logical|value|complex|item)\b|read past"
        r"|i/o past end of record|(?:un)?formatted file structure)"
        r"|forrtl: severe \((?:24|39|59|64|67)\)",
        "gfortran, ifort",
        "Fortran runtime error: End of file",
        True,
    ),
    RuleRow(
        "fortran",
        "code_error",
        BUG,
        "fortran runtime error|forrtl",
        r"fortran runtime error: (?!.*no such file)\S|forrtl: (?:severe|error) \((?!17[0-9]\): sig|200\):)",
        "gfortran, ifort",
        "Fortran runtime error: Index '11' of dimension 1 of array 'u' above upper bound of 10",
        True,
    ),
)

SETTINGS: tuple[RuleRow, ...] = (
    RuleRow(
        "usage",
        "config_error",
        CONFIG,
        ": error: |unrecognized argument|no such option|invalid choice|invalid value|missing option"
        "|missing argument|unknown flag|unknown command line|flags parsing|got unexpected extra"
        "|the following arguments|could not consume|unknown option|required option|parsing error"
        "|ambiguous option|expected one argument|unknown argument|unexpected argument|invalid option"
        "|unrecognized option|required argument|flag provided|flag needs",
        r"^(?!\S{1,200}:\d)\S{1,120}(?: \w{1,40})?: error: (?:argument|unrecognized|the following|invalid|ambiguous"
        r"|expected"
        r"|one of|no |too |cannot|can't|unknown|required)|unrecognized arguments?:|no such option|(?:missing"
        r"|invalid) (?:option(?!al)|argument(?!\W{0,3}$|: ['\"/])|value for(?! (?:Float|Integer|Rational|Complex)\())"
        r"|unknown (?:command line )?flag|flags parsing error"
        r"|got unexpected extra argument"
        r"|no value for the required argument|the following arguments are required|could not consume arg"
        r"|invalid choice:|(?:unknown|unrecognized|invalid|unexpected) (?:option|argument(?!\W{0,3}$|: ['\"/]))"
        r"|^invalid (?:boolean )?value \".{0,80}\" for (?:flag )?-|^error: invalid value '.{0,80}' for '?[<-]"
        r"|^flag (?:provided but not defined|needs an argument): -"
        r"|expected (?:one"
        r"|at least one|\d{1,20}) arguments?$|must be specified as a flag",
        "argparse, click, absl, fire, getopt, Go's flag",
        "train.py: error: unrecognized arguments: --foo",
    ),
    RuleRow(
        "settings-library",
        "config_error",
        CONFIG,
        "omegaconf|could not find|available options|check batch|mandatory|unknown |missing |unexpected "
        "|unsupported |unrecognized |invalid "
        "|hydra|configattribute|configkey|missingmandatory|could not override|validationerror"
        "|misconfiguration|yaml|toml|deepspeedconfig|configerror|configuration|config|gin.|interpolation"
        "|override|scannererror|parsererror|unbound variable|not set"
        "|validation error|configparser|schema|voluptuous|marshmallow|cerberus|dynaconf|environs|decouple|strictyaml"
        "|argumenterror|confusederror|unsupportedinter",
        r"\b(?:configparser|jsonschema|voluptuous|marshmallow|cerberus|dynaconf|environs|decouple|strictyaml)\.\S{0,60}"
        r"(?:Error|Exception|Invalid)\b|omegaconf\.\S{1,80}|hydra\.\S{0,80}(?:Exception|Error)|Config(?:Attribute"
        r"|Key|Type|Value|Composition"
        r"|uration)?(?:Error|Exception)\b|MissingMandatoryValue|could not override|MisconfigurationException"
        r"|yaml\.(?:\w{1,40}\.)?\w{1,40}Error|(?:yaml|toml|tomllib|tomli)\S{0,80}(?:Decode|Parse|Scanner)\w{0,24}Error"
        r"|TOMLDecodeError|DeepSpeedConfig\w{0,24}Error"
        r"|pydantic\S{0,80}ValidationError|\d validation errors? for|(?<!Invalid)(?<!\()ArgumentError\b"
        r"|mandatory value is missing"
        r"|missing mandatory value|key '\S{1,80}' (?:is )?not in '|in 'config\b|\bgin\.\S{1,80}"
        r"|mapping values are not allowed|could not (?:find|load|parse|read) (?:the )?(?:primary )?config"
        r"|invalid (?:config|configuration)\b|\bconfig(?:uration)? validation error|(?:config"
        r"|configuration) (?:error|is invalid|invalid|problem)"
        r"|(?:config|settings)[\w ./-]{0,60}(?:not found|does not exist|missing)|(?:missing|unknown"
        r"|unexpected|invalid|unrecognized|unsupported) (?:config\w{0,24}|setting|hyperparameter|parameter"
        r"|key in config|field|option)\b|could not find '[\w/.@-]+'$|^available options in '"
        r"|check batch related parameters|Primary config|(?-i:\b[A-Z][A-Z0-9_]{1,40}): (?:unbound variable"
        r"|parameter (?:null or )?not set)",
        "OmegaConf, Hydra, pydantic, YAML, DeepSpeed, Lightning",
        "omegaconf.errors.MissingMandatoryValue: Missing mandatory value: data.root",
    ),
    RuleRow(
        "bad-setting",
        "config_error",
        CONFIG,
        "valueerror|assertionerror|runtimeerror|keyerror|typeerror|exception|error|heap size|vm option",
        r"^KeyError: '(?-i:[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6})'"
        r"|\bheap size set to a larger value than\b|^(?:Unrecognized VM option|Invalid (?:maximum|initial) heap size)\b"
        r"|^(?:[\w.]+\.)?(?:Value|Assertion|Runtime|Key|NotImplemented|Type|Import|OS|Environment"
        r"|[A-Z][a-z]+(?:GBM|Boost))?(?:Error"
        r"|Exception)\b.{0,20}?(?:.{0,160})(?:(?<![\w-])--\w[\w-]+|\b(?:config(?:uration)?|argument `"
        r"|command[- ]line|flag\b|hyper-?parameter|yaml\b|\.json config|environment variable)"
        r"|must be (?:one of|either|set\b|divisible|specified|a positive|positive|provided|between"
        r"|greater than|at least|in \[)|should be (?:one of|either|set\b|divisible|in \[|specified)"
        r"|(?:is )?not (?:evenly )?divisible by|not a valid|is not a local folder|unknown (?:optimizer"
        r"|objective|metric|scheduler|model|dataset|loss|task|backend|precision|activation|strategy|mode"
        r"|arch\w{0,24}|type|device"
        r"|policy|env\w{0,24}|name|option|method|backbone|key|split)|(?:invalid|unsupported|unrecognized"
        r"|unexpected|illegal) (?:optimizer|scheduler|model|dataset|loss|task|backend|precision|strategy|mode"
        r"|value|option|type|device string|setting|choice|split|combination|batch)|(?<!are )incompatible with"
        r"|mutually exclusive|cannot be (?:used|combined|set|both)|you (?:must|need to|have to|should|cannot"
        r"|can't) (?:specify|provide|set|pass|use|define|choose|also)|(?:specify|provide|set) (?:either"
        r"|one of|at least|exactly)|requires? (?:the )?.{0,40}(?:to match|to be set|to be enabled"
        r"|to be specified)|(?:choose|valid (?:options|values|choices)|supported (?:values|options)"
        r"|available (?:options|models|choices)|expected one of|(?:allowed|accepted|possible|permitted)(?: \w+)? values"
        r"|did you mean)\b|train_batch_size|world[_ ]size.{0,60}(?:must|not|should|is)|BuilderConfig"
        r"|only supports? .{0,40}(?:when|with|if))",
        "ValueError and the like about a setting",
        "ValueError: --eval_steps must be set when evaluation is by steps",
    ),
    RuleRow(
        "scheduler-refused",
        "config_error",
        CONFIG,
        "allocate resources|sbatch: error|srun: error|batch job submission|invalid account|invalid partition"
        "|invalid qos"
        "|imagepull|manifest unknown|no such image|unable to find image|requested node|createcontainer"
        "|salloc|invalidimage|unknown image|bsub|qsub",
        r"batch job submission failed|sbatch: error: (?!.{0,20}slurmstepd)|unable to allocate resources"
        r"|invalid (?:account|partition|qos)|ImagePullBackOff|ErrImagePull|CreateContainerConfigError"
        r"|InvalidImageName|manifest (?:for .{0,80} )?(?:unknown|not found)|no such image"
        r"|(?:srun|salloc|sbatch): error: unable to create step.{0,40}: (?!.{0,40}(?:time|busy|retry))"
        r"|requested node configuration is not available|qsub: .{0,40}(?:invalid|illegal|unknown)"
        r"|invalid container",
        "Slurm, Kubernetes, docker",
        "sbatch: error: Batch job submission failed: Invalid account or partition combination specified",
    ),
    RuleRow(
        "no-such-file",
        "config_error",
        BUG,
        "errno|can't open |unable to open |can't load|cannot execute|exec format"
        "|no such file|filenotfounderror|command not found|no such option|cannot access"
        "|notadirectory|isadirectory|no module named|module specification|not found|does not exist|executable"
        "|fileexists"
        "|does not appear to be|cannot open|specified application|is not there"
        "|could not find|can't find|cannot find|can not open|cannot be found|enoent|matching distribution|404",
        r"\bwas unable to (?:launch|start) the specified application\b"
        r"|can't open file|unable to open database file|^\S+: \d+: (?:\S{1,80}: )?can't open "
        r"|can't load (?:the )?(?:tokenizer|config\w{0,24}|model|image processor"
        r"|feature extractor)\b|^\S*python\S{0,80}: (?:No module named|Error while finding module specification for)"
        r"|FileNotFoundError|errno 2\b|NotADirectoryError"
        r"|IsADirectoryError|FileExistsError"
        r"|: command not found|cannot open the (?:connection|file)\b|cannot execute|exec format error"
        r"|(?<!object file)[:(\"'] ?no such file or directory"
        r"|executable file not found|__main__ module|\S{1,80}: not found$|no matching distribution found"
        r"|could not find a version that satisfies|(?:file|folder|directory|path|dataset"
        r"|checkpoint|model)\b(?!.{0,80}\bobject ').{0,80}(?:does not exist|not found|doesn't exist)"
        r"|(?:^|: )\S{0,120}[/.]\S{1,80} is not there\b"
        r"|^can not open file:|\bfile \S{1,200} (?:cannot|could not) be found\b"
        r"|(?:could not|cannot|can't|unable to) (?:find|locate|open) "
        r"(?:['\"][\w./-]|(?:the )?(?:file|folder|directory|path"
        r"|dataset|checkpoint|model|config))|HFValidationError|is not a valid model identifier"
        r"|EntryNotFoundError|DatasetNotFoundError|(?<!Module)NotFoundError\b|NoSuchKey|NoSuchBucket"
        r"|does not appear to be a git repository"
        r"|executable.{0,20}(?:not found|does not)|^(?:wget|curl)\b.{0,60}\b404\b|\b404:? not found\b",
        "Python, shells, Hugging Face",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'",
    ),
)

LIBRARIES: tuple[RuleRow, ...] = (
    RuleRow(
        "library-missing",
        "code_error",
        CONFIG,
        "shared libraries|.so",
        r"(?<!libtpu)\.so[\w.]{0,24}: cannot open shared object file|error while loading shared libraries: ",
        "the dynamic linker; libraries of a card go before",
        "OSError: libfoo.so.7: cannot open shared object file: No such file or directory",
    ),
)

DEFECTS: tuple[RuleRow, ...] = (
    RuleRow(
        "shell-syntax",
        "code_error",
        CONFIG,  # a shell runs a script as it reads it: it went on after whatever its tools complained of above
        "syntax error",
        r"^\S{1,400}: (?:-c: )?line \d{1,7}: syntax error\b|^\S{1,400}: \d{1,7}: syntax error: ",
        "bash, dash",
        "run.sh: line 99: syntax error: unexpected end of file",
    ),
    RuleRow(
        "compiler",
        "code_error",
        BUG,
        ": fatal error:|: error:|error[e0",
        r"^error\[E0\d{3}\]: \S|^(?:(?!\S{1,34}(?:Error|Exception): )\S{1,40}: )?\S{1,200}"
        r"\.(?:[cm]?[jt]sx?|vue|cc?|c(?:pp|xx|s)|cu|hh?|hpp|f\d\d|rs|go|java|kt|scala"
        r"|swift|zig|hs|mli?|pyx?):\d{1,7}:(?:\d{1,5}:)? (?:fatal )?error:(?: |$)(?!.{1,200}: no such file)",
        "compilers, of a line of code",
        'src/main.tsx:14:2: ERROR: Unexpected ")"',
    ),
    RuleRow(
        "built-from-source",
        "code_error",
        BUG,
        "undefined reference|latex error|undefined control|emergency stop|! package",
        r": undefined reference to [`'\"]\S"
        r"|^! (?:LaTeX|Package \w{1,30}|pdfTeX) error\b|^! (?:undefined control sequence|emergency stop)",
        "linkers, TeX",
        "main.c:(.text+0x19): undefined reference to `start_all'",
    ),
    RuleRow(
        "other-languages",
        "code_error",
        BUG,
        "failed|execution halted|syntax error|syntaxerror|unbound variable|bad substitution|exception in thread"
        "|loaderror|error in |panic|goroutine|fatal error|: error: |): error |) : error |) error|unhandled |rb:|can't "
        "|undefined |reference|illegal division|r(|prelude.|non-exhaustive|<<loop>>|no such variable"
        "|invalid command name|wrong # args|compilation|reserved keyword",
        r"^test result: failed\b|^\d{1,6} tests?, \d{1,6} passed, [1-9]\d{0,5} failed|^failed \S{1,80}::\S{1,80}"
        r"|^=* ?[1-9]\d* failed, .{0,80} in \d|^execution halted"
        r"|^syntaxerror in (?:file|line) |syntax error(?: near"
        r"|:) unexpected"
        r"|: unbound variable|: bad substitution"
        r"|^exception in thread \"main\"|^error: loaderror|^error in \S.{0,80} :(?: |$)"
        r"|^(?:thread '.{0,80}' )?panicked at|^panic: |^fatal error: (?!.{0,40}memory)"
        r"|^(?:\w{1,40}: )?\S{1,200}:\d{1,7}:(?:\d{1,5}:)? (?:fatal )?error: "
        r"|^(?:can't (?:call method|locate object|use )|undefined subroutine|not an? (?:hash|array|code) reference"
        r"|illegal division).{0,200} at \S{1,200} line \d{1,7}\b"  # Perl
        r"|^r\([1-9]\d{0,3}\);$"  # Stata
        r"|\b(?:Script ?|Multiple)Compilation(?:Errors?)?Exception\b|^(?:script )?compilation (?:error|failed)\b"
        r"|^\W{0,2}Error: Illegal use of reserved keyword\b"  # MATLAB
        r"|^\S{1,200}\(\d{1,7}, \d{1,5}\) (?:fatal )?error: "  # Nim
        r"|^[\w.-]{1,60}: (?:Prelude\.\S{1,40}: |<<loop>>|.{0,120}Non-exhaustive patterns in )"  # Haskell
        r"|^can't read \".{1,80}\": no such variable$|^invalid command name \"|^wrong # args: should be "  # Tcl
        r"|^\S{1,200}\.rb:\d{1,7}:in .{1,400} \((?:[A-Z]\w{0,40}::){0,4}[A-Z]\w{1,60}\)$"
        r"|^unhandled [\w-]{1,60} in thread\b|^unhandled exception[.:] \S"  # Lisp
        r"|^\S{1,200}\(\d{1,7}(?:,\d{1,5})?\) ?: (?:fatal )?error [A-Z]{1,6}\d{1,6}: ",  # TypeScript, C#, MSVC
        "R, Java, Julia, Rust, Go, compilers",
        "Error in fit(x) : object 'y' not found",
    ),
    RuleRow(
        "defect",
        "code_error",
        BUG,
        "error|stopiteration|exception",
        r"(?:^|[\s\]|:>.])(?:Name|Attribute|Type|Index|Key|UnboundLocal|Import"
        r"|ModuleNotFound|Syntax|Indentation|Tab|ZeroDivision|Recursion|NotImplemented|Assertion|Lookup"
        r"|Unicode(?:Encode|Translate)?|Overflow|Reference)Error\b(?=:|\s{0,8}$)|\bOSError: \[Errno 9\] ",
        "Python",
        "KeyError: 'labels'",
    ),
    RuleRow(
        "shape-or-device",
        "code_error",
        BUG,
        "shape|size|device|dtype|expected|tensor|gradient|backward|graph|inplace|jax|tracer|concretization"
        "|expanded|broadcast|dimension|expected all tensors|input type|module named|import name|no attribute"
        "|compilationerror|unused|finished reduction|pickle|index out of|leaked|forked|scalar type|element |mpi_err_",
        r"shapes? .{0,40}(?:cannot be multiplied|incompatible|mismatch|not aligned)|size mismatch\b"
        r"|the size of tensor \w|sizes of tensors must match|size of tensors? .{0,40}must match"
        r"|expected all tensors to be on the same device|expected (?:scalar type|object of|input|self and"
        r"|dtype|\d{1,20}d|weight|tensor|mat1|m1|target|batch)\b|input type \(|Incompatible shapes"
        r"|cannot re-initialize CUDA in forked"
        r"|element \d+ of tensors does not require grad|trying to backward through|modified by an inplace"
        r"|does not require grad|expected to have finished reduction|mark(?:ed)? a variable ready"
        r"|(?:Concretization|Tracer\w{0,24}|UnexpectedTracer|LeakedTracer)\w{0,24}Error|could not broadcast"
        r"|cannot be broadcast|dimension (?:out of range|mismatch)|\bdimensions (?:does|do) not match"
        r"|must be the same shape|stack expects each tensor"
        r"|\bMPI_ERR_(?:RANK|ARG|TAG|COUNT|TYPE|BUFFER|ROOT|OP|TRUNCATE)\b"
        r"|mat1 and mat2|should be the same|index out of (?:range|bounds)"
        r"|has no attribute|no module named|cannot import name|\bCompilationError\b|can't pickle|cannot pickle"
        r"|view size is not compatible|shape '\[.{0,60}is invalid|Given groups=|got \d+ channels"
        r"|dtype.{0,40}mismatch|mismatch.{0,30}dtype|axis \d+ is out of bounds",
        "PyTorch, JAX, NumPy, Triton",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x768 and 1024x10)",
    ),
    RuleRow(
        "playbook-failed",
        "code_error",
        SUMMARY,
        "unreachable=",
        r"\bok=\d{1,9}\s.{0,40}\b(?:unreachable=[1-9]|unreachable=0\s{1,8}failed=[1-9])",
        "Ansible's recap",
        "gpu-3 : ok=12 changed=3 unreachable=0 failed=1 skipped=2 rescued=0 ignored=0",
    ),
    RuleRow(
        "tests-failed",
        "code_error",
        VAGUE,
        "fail|errors|not ok |s passed",
        rf"{FAILED_CASE}"
        r"|^FAIL(?:\s{1,8}\S{1,200}\s{1,8}[\d.]{1,20}s)?\s{0,4}$|^FAILED \((?:[\w ]{1,20}=\d{1,9}(?:, )?){1,5}\)"
        r"|^test result: FAILED\b|^\[\s{0,4}FAILED\s{0,4}\] \d{1,9} tests?\b"
        r"|^=+ (?:\d+ \w{1,40}, ){0,6}[1-9]\d{0,8} (?:failed|errors?)\b.{0,80} in [\d.]+s"
        r"|^Tests?(?: Suites)?:\s{1,10}[1-9]\d{0,8} failed\b|^\s{0,8}[1-9]\d{0,8} failing\b"
        r"|\b[1-9]\d{0,8} tests? failed out of \d"
        r"|^(?:[^\d:]{1,40}: |\W{0,4})\d{1,9} (?:(?:features?|scenarios?) )?passed, [1-9]\d{0,8} failed\b"
        r"|^\d{1,9} (?:scenarios?|steps?|examples?|specs?)(?:, | \()[1-9]\d{0,8} fail(?:ed|ures?)\b|^Fail:\s{1,20}[1-9]"
        r"|(?<![\d.,/])(?P<well>\d{1,9}) (?:of|out of|/) (?!(?P=well)\b)\d{1,9} (?:\w{1,20} )?(?:tests|checks"
        r"|assertions|expectations|validations) passed\b|^(?:#|\u2139) fail\s{1,8}[1-9]\d{0,8}$",
        "go test, unittest, pytest, cargo, Google Test, CTest, Jest, Mocha, TAP, RSpec, behave, Meson",
        "FAILED (failures=2, errors=1)",
    ),
    RuleRow(
        "exception",
        "code_error",
        VAGUE,
        "failure|notfound|exceeded|expired|invalid|timeout|error|exception|systemexit|exit|fault",
        r"^(?:[A-Za-z_]\w{0,60}\.)*[A-Z]\w{0,60}(?:Error|Exception|Failure|Fault|NotFound|Exceeded|Expired|Invalid"
        r"|Timeout)\b(?::|\s{0,8}$)",
        "Python and others: an exception that only says that something failed",
        "RuntimeError: worker pool is in a bad state",
    ),
    RuleRow(
        "said-error",  # counts near the end of a log only, see `decide`
        "code_error",
        VAGUE,
        "error",
        r"^error: (?!.{0,10}(?:rate|bar))(?!-?[\d.]{1,20}(?:e[-+]?\d{1,3})?\W{0,3}$)\S"
        r"|^\s?(?-i:[A-Z][A-Z\d_]{3,15}) (?:fatal )?error: [A-Za-z]"
        r"|^encountered an error(?: while .{1,60})?:?\s{0,4}$",
        "programs that print their own error",
        "Error: the third stage gave nothing",
    ),
)
