"""The words that tell what a counter counts, and what is not the progress of a training. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy

# A word before a number -> the unit it counts. Sub-units (of an epoch) are named in INNER_UNITS.
UNITS = {
    "epoch": "epoch", "epochs": "epoch", "epoches": "epoch", "ep": "epoch", "epoche": "epoch", "epochen": "epoch",
    "step": "step", "steps": "step", "globalstep": "step", "gs": "step",
    "iter": "iter", "iters": "iter", "iteration": "iter", "iterations": "iter", "itr": "iter", "ite": "iter", "it": "iter",
    "schritt": "step", "schritte": "step", "runde": "round", "runden": "round", "durchlauf": "round", "tick": "iter", "ticks": "iter",
    "épocas": "epoch", "epoca": "epoch", "epocas": "epoch", "époque": "epoch", "эпоха": "epoch",
    "pas": "step", "paso": "step", "pasos": "step", "passo": "step", "étape": "step", "étapes": "step", "шаг": "step",
    "iteración": "iter", "iteração": "iter", "itération": "iter", "iterazione": "iter", "итерация": "iter",
    "époques": "epoch", "эпохи": "epoch", "эпох": "epoch", "iteraciones": "iter", "iterações": "iter", "itérations": "iter",
    "nstep": "step", "fra": "frame", "época": "epoch", "поколение": "generation", "génération": "generation",
    "geração": "generation", "geracao": "generation", "generación": "generation", "generacion": "generation", "generazione": "generation",
    "upd": "update", "update": "update", "updates": "update", "up": "update",
    "batch": "batch", "batches": "batch", "minibatch": "batch", "microbatch": "batch", "batch_idx": "batch",
    "round": "round", "rounds": "round", "trial": "trial", "trials": "trial", "tree": "round", "trees": "round",
    "estimator": "round", "estimators": "round", "generation": "generation", "generations": "generation", "gen": "generation", "gens": "generation", "episode": "episode",
    "episodes": "episode", "timestep": "timestep", "timesteps": "timestep", "frame": "frame", "frames": "frame",
    "sample": "sample", "samples": "sample", "example": "sample", "examples": "sample", "image": "image",
    "images": "image", "img": "image", "file": "file", "files": "file", "object": "object", "objects": "object",
    "item": "item", "items": "item", "task": "task", "tasks": "task", "job": "job", "jobs": "job", "test": "test",
    "tests": "test", "document": "document", "documents": "document", "docs": "document", "record": "record",
    "records": "record", "row": "row", "rows": "row", "lines": "row", "token": "token", "tokens": "token", "page": "page", "pages": "page", "chunk": "chunk",
    "chunks": "chunk", "sweep": "sweep", "sweeps": "sweep", "draw": "draw", "draws": "draw", "game": "game", "games": "game",
    "question": "item", "questions": "item", "prompt": "item", "prompts": "item", "stage": "stage", "phase": "stage",
    "fit": "fit", "fits": "fit", "package": "package", "packages": "package", "target": "target", "pass": "pass",
    "increment": "step", "kimg": "kimg", "time": "time", "cycle": "cycle", "cycles": "cycle", "scene": "item", "video": "item", "sequence": "item",
    "query": "item", "queries": "item", "simulation": "item", "permutation": "item", "replicate": "item", "replicates": "item", "simulations": "item", "permutations": "item",
}  # fmt: skip
STEP_UNITS = frozenset({"step", "iter", "update", "batch", "timestep"})
BATCHES = frozenset({"batch", "minibatch", "microbatch"})
INNER_UNITS = frozenset({"batch", "sample", "image", "minibatch"})
IN_FRACTIONS = frozenset({"kimg"})  # thousands of images: `kimg 8104.2`
# Units that count on their own in running text (`step 1200`); the others need a maximum beside them.
LONE_UNITS = frozenset({"epoch", "step", "iter", "update", "round", "trial", "timestep", "generation", "episode"})
LONE_WORDS = frozenset({
    "kimg", "epoch", "step", "steps", "iter", "itr", "ite", "iteration", "iterations", "update", "updates", "up", "ep", "round", "trial",
    "timestep", "timesteps", "generation", "gen", "episode", "globalstep", "tick",
    "upd", "epoche", "schritt", "it", "gs", "nstep", "fra", "pas", "época", "epoca", "époque", "эпоха", "paso", "passo", "étape", "шаг",
    "iteración", "iteração", "itération", "iterazione", "итерация", "runde", "durchlauf", "поколение", "génération",
    "geração", "geracao", "generación", "generacion", "generazione",
})  # fmt: skip

# How many there are, not which: `Épocas: 18`.
PLURALS = frozenset({
    "generations", "gens", "epochs", "epoches", "iters", "rounds", "trials", "episodes", "épocas", "epocas", "époques", "эпохи", "эпох", "epochen", "iteraciones", "iterações", "itérations",
})  # fmt: skip
# Units whose number alone, without a maximum, is a counter if it goes on: `GEOMETRY OPTIMIZATION CYCLE  8`.
SELDOM_UNITS = frozenset({"cycle", "pass", "sweep", "draw", "game"})
# Things that a run works through. A number with such a name is a counter if it goes on and on: `frame=  338 fps=0.0`.
WEAK_UNITS = frozenset({"frame", "sample", "image", "document", "record", "chunk", "item"})
WEAK_WORDS = frozenset(word for word, unit in UNITS.items() if unit in WEAK_UNITS) - {"fra"}
# One word for how many there are to be: `nsteps`, `maxiter`, `totalepochs`, `NITMAX`.
_SO_MANY = ("n", "num", "nb", "max", "tot", "total", "numberof")
_TO_COUNT = {
    **{word: unit for word, unit in UNITS.items() if unit in LONE_UNITS | {"sweep", "draw", "cycle", "game"}},
    "its": "iter",
}
MAXIMUM_WORDS = {
    "nstlim": "step", "optcycles": "cycle", "maxit": "iter", "maxits": "iter",
    **{f"{many}{word}": unit for many in _SO_MANY for word, unit in _TO_COUNT.items()},
    **{f"{many}{word}max": unit for many in ("", "n") for word, unit in _TO_COUNT.items() if not word.endswith("s")},
}  # fmt: skip
for _word in {*(UNITS.keys() & MAXIMUM_WORDS.keys()), "nit"}:  # `nstep: 300` is a counter, `nit: 59` a result
    del MAXIMUM_WORDS[_word]
# Of these, words that stand before a number in other texts too: `ep 1 of enp0s3`, `round 2 of talks`.
EVERYDAY = LONE_WORDS - frozenset(
    "epoch epoche step steps iter itr iteration iterations timestep timesteps globalstep schritt".split()
)

_UNIT_WORDS = "|".join(sorted(UNITS, key=len, reverse=True))
UNIT_WORD = rf"(?:{_UNIT_WORDS})"

# Words beside the unit that make the number a setting, not a counter.
NOT_A_COUNTER = frozenset(
    "per save saved saving eval evaluation evaluate logging log warmup warm accumulation accumulate accum acc start every freeze unfreeze"
    " freq frequency interval best last resume resumed resuming since ago skip skipped decay patience seed ckpt"
    " checkpoint each early stopping stop initial first offset from attempt retry until after next lr print stopped"
    " inference sampling denoising diffusion display history local rank worker previous prev lookback horizon"
    " improved improvement possible val validation valid summary report sync refresh milestones milestone anneal cooldown"
    " fps sps tps"  # `fps step: 12345`
    " micro inner sub eigenvalue solver newton lbfgs sinkhorn kmeans"
    " no"  # `No Iterations 6`: of a solver inside each step
    " threads thread prolog prologue epilog epilogue setup preflight bootstrap array install installing build docker deploy boot provisioning recipe wizard".split()
)
TRAINING_WORDS = frozenset({"train", "training"})  # `train epochs: 50`, but `Start training model_a, epoch 3`
MAXIMUM = TRAINING_WORDS | frozenset("max maximum total num n nb number target final tot planned expected".split())
# ... but these, though they begin like one, are the counter itself.
COUNTER_LABELS = frozenset({"num_updates", "n_updates", "num_update", "num_steps_done", "num_timesteps", "train_step", "training_step",
                            "train_iteration", "training_iteration", "train_epoch", "training_epoch", "train_iter",
                            "train_batch", "train_update", "training_update", "training_iter", "training_batch",
                            "train_round", "training_round", "train_episode", "training_episode"})  # fmt: skip

EVALUATION = lazy(
    r"(?i)(?<![a-z])(?:val|valid|validat\w*|eval|evals|evaluat\w*|test|testing|predict\w*|inference|sanity\w*|infer\w*"
    r"|scoring|benchmark\w*)(?![a-z])"
)
AUXILIARY = lazy(
    r"(?i)(?<![a-z])(?:load\w*|download\w*|fetch\w*|tokeniz\w*|tokenis\w*|map|mapping|filter\w*|preprocess\w*|cach\w*"
    r"|sav\w+|checkpoint\w*|shards?|extract\w*|scan\w*|upload\w*|encod\w*|compress\w*|decompress\w*|unpack\w*|grouping"
    r"|pack\w*|generating(?= (?:\w{1,16} )?(?:split|config\w*|cache|schema|map|manifest|docs?|code|index\w*)(?![a-z]))|index\w*|read\w*|convert\w*|writ\w+|copy\w*|build\w*(?! trees?(?![a-z]))|compil\w*|warm\w*|install\w*|resolv\w*"
    r"|collect\w*|prepar\w*|captur\w*|hash\w*|verif\w*|receiv\w*|enumerat\w*|counting|count(?= [a-z])|updating files|running tokenizer|import\w*"
    r"|pip|creating|quantiz\w*|parse|parsing|merg(?:e|ed|er|ing)|calibrat\w*|profil\w*|pull\w*|push\w*|transfer\w*|num_proc|fast_tokenizer"
    r"|dropp\w*|remov\w*|dedup\w*|shuffl\w*|clean\w*)"
    r"(?![a-z])"
)
TRAINING = lazy(r"(?i)(?<![a-z])(?:train\w*|fit|fitting|epochs?|optimi[sz]\w+|learn\w*|finetun\w*)(?![a-z])")

# Fractions after these words are not progress, whatever else the line looks like.
NOT_PROGRESS = lazy(
    r"(?i)(?:(?<![a-z])(?:rank|gpu|gpus|device|node|nodes|threads?|worker|workers|shard|shards|fold|folds|cv|attempt|attempts"
    r"|retry|retries|retrying|try|patience|early[ _-]?stop\w*|counter|stopping|acc|accuracy|correct|passed|failed|score"
    r"|ratio|port|pod|pods|replica|replicas|version|volume|host|process|core|cores|cpu|cpus|(?<!ing )(?<!^)layers?|head|heads"
    r"|partition|split|slot|slots|queue|channels?|ram|mem|memory|used|usage|vram|disk|page|part|cuda|tp|pp|dp|local_rank|top|top[-@]?\d{1,2}"
    r"|wins?|win|solved|resolved|success|successes|healthy|ready|available|free|alive|no improvement(?: (?:for|in|since|after))?|wait|strike\w*"
    r"|precision|recall|f1|em|hits?|matched|overflow|skipped|replicas|of|on|use|depth|connected|members?|seats?|ep_len\w*|world|stage|phase"
    r"|missing|nulls?|nans?|duplicates?|outliers?|invalid|kept|keeping|selected|retained|accepted|rejected|discarded))"
    r"\W{0,6}$"
)
# Of these, numbers of things that a run may work through: a counter if it goes on and on by the same.
A_PIECE = lazy(
    r"(?i)(?<![a-z&?=])(?:shard|layer|partition|split|page|part|volume|phase|stage)s?"
    r"\W{0,3}$"
)
# A share of something, not of the work done: words near before it, or right behind it.
_SHARES = r"(?:accuracy|acc|correct|correctly|misclassified|incorrect|wrong|passed|failed|score|solved|success\w{0,12}|wins?|usage|used|memory|mem|gpus?|hits?|[kmgt]i?b)"
_PARTS = (
    r"(?:trainable|params|nodes?|replicas?|workers?|ranks?|pods?|shards?|healthy|ready|available|retries|attempts?|cores|cpus|threads"
    r"|seats|busy|idle|met|agree|online|connected)"
)
# `Acc: 77.6% (25924/33408)`: the numbers that a share is made of.
SHARE_IN_PERCENT = lazy(
    rf"(?i)(?<![a-z]){_SHARES}\W{{1,4}}\d{{1,3}}(?:\.\d{{1,6}})? ?% {{0,2}}\(\d{{1,12}} ?/ ?\d{{1,12}}\)"
)
NO_SHARE = lazy(rf"(?i)(?<![a-z])(?:{_SHARES}|trainable|params)(?![a-z])")
NO_SHARE_AFTER = lazy(
    rf"(?i)[\s(\[,]*(?:\d+%\)?\s*)?(?:(?!mean|avg|average)[a-z]+\s)?(?:{_SHARES}|{_PARTS})"
    r"(?![a-z]|[_-]?\d| (?:done|completed?|finished|written|processed|converted)(?![a-z]))(?<!acc(?= so far))(?<!accuracy(?= so far))"
)

GATHERS = lazy(  # `Waiting for 2 more workers to join (2/4)`, `9/16 ranks joined`: who takes part, not what is done
    r"(?i)(?<![a-z])(?:workers?|ranks?|peers?|nodes?|hosts?|actors?|learners?|replicas?|participants?|process(?:es)?"
    r"|servers?|clients?|brokers?|agents?|members?|gpus?|pods?) (?:(?:has |have |to )?"
    r"(?:join|connect|register|come|arriv)"
    r"|(?:are |is )?(?:up|ready|online|alive|present|here)(?![a-z]))"
    r"|^\W*wait(?:ing|s) (?:for|on) .{0,24}(?:worker|rank|peer|node|host|actor|replica|server|client|gpu)s?(?![a-z])"
)
_FIELD_OF_TWO = lazy(r"(?<!\w)(\w{1,20})=\d{1,12}/\d{1,12}(?![\w/])")

# What a number beside it was reached by: an earlier run, or the best of this one.
OF_EARLIER = lazy(
    r"(?i)(?<![a-z])(?:load(?:ed|ing)?|restor\w{1,4}|resum\w{1,4}|recover\w{0,4}|pretrained|best)(?![a-z])"
)

# The name of a logger, or of what speaks: what it tells is not of the run.
OF_AN_EVALUATOR = lazy(
    r"(?i)(?:evaluator|validator)[\w.]{0,20}[\])]?\s{0,4}[:|-]?\s{0,4}(?:(?:INFO|DEBUG|WARNING)(?![a-z])|:)"
)

LEADS_UP_TO = lazy(r"(?i)(?:continu\w{1,3}|train\w{0,3}|run\w{0,4}) (?:up )?to\s$")  # `continuing to epoch 40`

LOOK_BACK = 40
ANY_WORD = lazy(r"[a-z]+", re.IGNORECASE)
BUDGET_IS_OVER = r"\bbudget (?:is |was )?(?:exhausted|used up|spent|reached|met|consumed)\b"
LAST_WORD = lazy(r"(?<![A-Za-z])[A-Za-z]+$")


def counts_two_things(text: str) -> bool:
    """Whether several fields of a line count two things each: `ios=10255/4362, merge=32/238`, unlike `epoch=1/8
    step=30/90`.
    """
    names = _FIELD_OF_TWO.findall(text)
    return len(names) > 1 and not all(name.lower() in UNITS for name in names)
