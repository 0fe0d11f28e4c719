"""Python tracebacks, line by line: where they begin, their frames, and the exception they end with. Pure."""

from __future__ import annotations

import re
from collections import deque

from onbox.named_tuple import NamedTuple
from onbox.regex import lazy
from onbox.triage.short_stack import PYTHON_HEADLINE, SHOWN_LINES, SHOWN_WIDTH, left_out

NOISE_LIMIT = 40  # lines of the same writer inside one traceback that are none of it
OPEN_LINES = 300  # lines of any writer after a traceback's latest frame
FRAMES_KEPT = 60
OWN_LINES = 3  # of a frame: where it is, its code, and the mark under that

HEADER = lazy(r"Traceback \(most recent call last\)|^\s*(?:[|│]\s*)?Stack \(most recent call")
_FRAME = lazy(r"^\s*(?:\|\s*|> )?File \"([^\"]{1,400})\", line (\d+)(?:, in (.{1,120}))?")
_RICH_FRAME = lazy(r"^\s*(?:[│|]\s*)?(/[^\s:]{1,400}\.py):(\d{1,20}) in (\S+)")
EXCEPTION = lazy(
    r"^(?:\s{0,2}|\s*\|\s*)((?:(?:[A-Za-z_]\w*|<locals>)\.)*_?(?:(?:[A-Z]\w*)?(?:Error|Exception|Unsupported"
    r"|BrokenProcessPool|Interrupt|Exit|Fault|Failure"
    r"|Timeout|Expired|Exceeded|NotFound|Iteration|Cancelled"
    r"|Died|Lost|Missing|MandatoryValue|Invalid|Empty|Full|Abort|Stop|Warning|Denied|Disconnected|Group)"
    r"|StopIteration|Killed|KeyboardInterrupt)|(?:[a-z_]\w*\.)+(?:exc|exceptions?"
    r"|errors?)\.[A-Z]\w*)(?::\s?(.*)|\s*)$"
)
_A_FILE = (  # `scores.csv: 12 rows` is no exception of a module `scores`
    r"(?![\w.]*\.(?:npy|npz|csv|tsv|jsonl?|txt|log|pkl|pth?|bin|h5|svg|png|pdf|md|html|ya?ml|gz|db|out|dat):)"
)
_ANY_NAME = lazy(rf"^(?:\|\s*)?{_A_FILE}((?:(?:[a-z_]\w*|<locals>)\.)+[A-Za-z_]\w*|[A-Z][A-Za-z]{{3,}})(?::\s(.*)|)$")
# Of faulthandler and py-spy, and where logging could not write a line: shown, not raised.
STACK_DUMP = lazy(r"most recent call first|^Call stack:$")
CHAIN = lazy(r"During handling of the above exception|The above exception was the direct cause")
IGNORED = lazy(
    r"Exception ignored in|--- Logging error|Error in atexit|\b(?:Task|Future) exception was never retrieved"
    r"|^(?:future|task): <(?:Task|Future)\b(?!.{0,400} exception=SystemExit\()"  # of asyncio, below that
    r"|Exception in thread (?:Net|Msg|Chk|Metrics|wandb|Tensorboard|tqdm)|Error in sys\.excepthook"
    r"|\b\d{1,9} \w{1,20} failed with the following error:"  # scikit-learn counts the fits that it sets aside
)
# A server tells of a request that it could not answer.
OF_REQUEST = lazy(
    r"\b(?:Exception|Error) (?:occurred )?(?:(?:during|while|on) (?:the )?)?(?:processing|handling) (?:of )?(?:a )?"
    r"request\b"
    r"|^Exception on /\S* \[[A-Z]{3,7}\]",
    re.IGNORECASE,
)
_LIBRARY = lazy(
    r"site-packages|dist-packages|/lib/python\d|^<frozen|^<string>|/usr/lib/|\\Lib\\|python\d\.\d+/"
    r"|^<__array_function__"
)
SHUTDOWN = lazy(
    r"threading\.py|atexit|weakref|__del__|/logging/|multiprocessing/(?:resource|util|connection|managers"
    r"|popen)|/wandb/|socketserver|selectors|_shutdown|concurrent/futures/thread|asyncio/base_events"
)
CHECKPOINT_READ = lazy(
    r"torch\.load|load_state_dict|load_checkpoint|load_from_checkpoint|safetensors|resume|ckpt|checkpoint"
    r"|optim\w{0,16}\.pkl|\brestore|load_weights|load_model|serialization\.py|orbax|from_pretrained"
    r"|numpy_pickle|joblib\.load|load_from_zip_file|saving_(?:lib|api)|load_params|keras/src/utils/traceback_utils"
    r"|\b\w{0,40}(?:Model|Net|Agent|Policy|Booster|Classifier|Regressor|PPO|A2C|DQN|SAC|TD3)\.load\(",
    re.IGNORECASE,
)
# Most calls hand a `config` on: an exception under them is about a setting only where one is being read.
READS_CONFIG = lazy(
    r"(?:load|read|open|pars|valid|compos|merg|from_(?:file|yaml|json|dict)).{0,80}"
    r"(?:(?:config|\bcfg|settings|hparams)(?!\[)|ya?ml|toml)|(?:config|cfg|settings|hparams)\w{0,16}(?:\.py\b|[./_](?:load|read|pars|valid|util))|yaml\.|toml"
    r"|(?:config|cfg|settings|hparams)\w{0,16} {0,2}= .{0,80}(?:load|read|open|pars|from_)",
    re.IGNORECASE,
)
DATA_READ = lazy(
    r"dataset|dataloader|data_loader|collate|__getitem__|webdataset|tfrecord|parquet|pyarrow|read_csv"
    r"|Image\.open|/PIL/|gzip|tarfile|_utils/fetch|tokeniz|\bcv2\b|imageio|soundfile|librosa|decord"
    r"|loader|shard|json\.loads|read_line|np\.load|npyio|sample",
    re.IGNORECASE,
)


_TRACKER = lazy(r"[\\/](?:wandb|comet_ml|neptune|clearml|mlflow|swanlab)[\\/]")
# Code that a program has made or was given, and runs: `<string>`, `<completion>`.
_GENERATED = lazy(r"<(?!stdin>|frozen |ipython-input|cell |command-|timed )")
_PROGRAM = ("<module>", "_run_module_as_main")  # the outermost frame of an exception that nobody caught


_RUNNER = lazy(
    r"[\\/](?:spyder_kernels|debugpy|pydevd?|ipykernel|IPython)[\\/]"
)  # what an editor starts a program with
# What leads in a traceback whose first frames are left out, or that was raised elsewhere.
_HANDED_ON = lazy(
    r"^Error executing job with|^Exception in (?:thread|callback)|^Process \S|\"\"\"|RemoteTraceback|Original\b"
    r"|\braised\b"
)


class TracebackFrame(NamedTuple):
    """A frame of a traceback: a file, a line in it, the function's name (empty if it is not told)."""

    file: str
    line: int
    function: str

    @property
    def is_library(self) -> bool:
        return bool(_LIBRARY.search(self.file))


_PASSES_ON = lazy(r"[\\/](?:multiprocessing|concurrent[\\/]futures|joblib|multiprocess|loky)[\\/]")


class Trace:
    """A traceback being read. caught: a logger wrote it, so the program had it in hand. ignored: Python or a tool says
    that it goes on without. chained: it follows another one ("During handling of…"). latest: number of its last frame.
    progress: how many lines of progress came before that one. last_line: the last line of it. cut: it stands behind a
    line that was not finished.
    """

    def __init__(self, number: int, *, caught: bool, ignored: bool, chained: bool) -> None:
        self.number = number
        self.caught = caught
        self.ignored = ignored
        self.chained = chained
        self.frames: list[TracebackFrame] = []
        self.code: list[str] = []
        self.noise = 0
        self.latest = number
        self.indent = ""  # of its first line
        self.progress = 0
        self.last_line = ""
        self.before = ""  # the line that it stands behind
        self.warned = False  # a warning led it in
        self.logged = False  # a logger's level stands in its first line, or in that of its chain
        self.cut = False
        self.quoted = False  # a program shows what another one had written
        self.neighbour = False  # only the line before tells that a logger wrote it
        self.ends_program = False
        self.is_of_generated = False  # its program was made or given, and is run by another one
        self.of_loguru = False  # which marks the frame that caught it, and shows the values in each line
        self.is_shown = False  # it begins in a function of the program's: only who caught it shows no more of it
        self.cause: Trace | None = None  # what this one passes on, where it is chained
        self.shown: deque[str] = deque(maxlen=SHOWN_LINES)
        self.taken = 0  # lines, of which `shown` keeps the last
        self.own: list[str] = []  # the innermost frame of the user's own code with what stands below it
        self.own_from = 0  # lines before that

    def take_frame(self, text: str, number: int) -> bool:
        """Whether the line is a frame; it is kept then."""
        found = _FRAME.match(text) or _RICH_FRAME.match(text)
        if not found:
            return False
        self.frames.append(TracebackFrame(found[1], int(found[2][:9]), found[3] or ""))
        self.of_loguru = self.of_loguru or text.startswith("> ")
        if len(self.frames) == 1:
            of_command = found[1] == "<string>" and (found[3] or "").strip() == "<module>"  # `python -c`
            self.is_of_generated = bool(_GENERATED.match(found[1])) and not of_command
            in_program = (found[3] or "").strip() in _PROGRAM or _RUNNER.search(found[1]) is not None
            self.ends_program = in_program and not self.is_of_generated
            self.is_shown = not (self.ends_program or self.frames[0].is_library or _HANDED_ON.search(self.before))
            self.caught = self.caught and not (self.neighbour and self.ends_program)
        self.caught = self.caught or self.of_loguru
        del self.frames[:-FRAMES_KEPT]
        self.noise = 0
        self.latest = number
        self.last_line = text.strip()
        if not self.frames[-1].is_library:
            self.own, self.own_from = [], self.taken
        self._show(text)
        return True

    def take_code(self, text: str) -> None:
        self.last_line = text.strip() or self.last_line
        if text.strip():
            self._show(text)
        if not text.strip(" ^~|"):
            return  # the mark under the code
        self.code.append(text.strip()[:200])
        del self.code[:-FRAMES_KEPT]

    def _show(self, text: str) -> None:
        line = text.rstrip()[:SHOWN_WIDTH]
        if self.frames and not self.frames[-1].is_library and len(self.own) < OWN_LINES:
            self.own.append(line)
        self.taken += 1
        self.shown.append(line)

    def as_shown(self, exception: str) -> tuple[str, ...]:
        """The traceback as a person reads it: its last lines, and before them the innermost frame of the user's own
        code where that is not among them. exception: the line that it ends with.
        """
        cut = self.taken - len(self.shown)
        own = self.own[: max(0, cut - self.own_from)]
        if own:
            between = cut - self.own_from - len(own)
            told = (*left_out(self.own_from), *own, *left_out(between))
        else:
            told = left_out(cut)
        return (PYTHON_HEADLINE, *told, *self.shown, exception.strip()[: 2 * SHOWN_WIDTH])

    @property
    def user_frame(self) -> TracebackFrame | None:
        """The innermost frame outside of libraries, or within them if there is no other; None without frames. What a
        pool of workers only passes on was raised in the worker.
        """
        if self.cause is not None and self.frames and _PASSES_ON.search(self.frames[-1].file):
            return self.cause.user_frame
        own = [frame for frame in self.frames if not frame.is_library]
        return own[-1] if own else self.frames[-1] if self.frames else None

    @property
    def is_of_tracker(self) -> bool:
        """Whether it is from a thread of an experiment tracker: the program is not in it, and goes on without."""
        if any(frame.function == "<module>" for frame in self.frames):
            return False  # the program called it
        return all(frame.is_library for frame in self.frames) and any(_TRACKER.search(one.file) for one in self.frames)

    def passes_on(self, other: Trace) -> bool:
        """Whether it ends a chain in which another one stands."""
        before = self.cause
        while before is not None and before is not other:
            before = before.cause
        return before is not None

    def follows(self, pattern: re.Pattern[str]) -> bool:
        """Whether the line before it says something."""
        return bool(pattern.search(self.before))

    def mentions(self, pattern: re.Pattern[str], last: int = 8) -> bool:
        """Whether the innermost frames or their code speak of something."""
        frames = self.frames[-last:]
        own = self.user_frame
        names = [f"{frame.file} {frame.function}" for frame in frames if frame.is_library] + [
            frame.function for frame in frames
        ]
        names += [own.file.rsplit("/", 1)[-1]] if own else []
        return any(pattern.search(text) for text in [*names, *self.code[-last:]])


def exception_of(text: str, *, in_trace: bool) -> tuple[str, str] | None:
    """The name and the message of an exception that a line ends a traceback with; None if it is none.

    Within a traceback any dotted or capitalised name counts: programs name their exceptions as they like.
    """
    found = EXCEPTION.match(text) or (_ANY_NAME.match(text) if in_trace else None)
    if not found or found[1].endswith("Warning"):
        return None
    return found[1], found[2] or ""
