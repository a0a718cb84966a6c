"""English: habits, loading, keys and intervals."""

from __future__ import annotations

from instride.doctor.languages.template import Wording

WORDINGS: dict[str, Wording] = {
    "twin-keys": Wording(
        title="A key that is set, and another that is read",
        sentence="`{key}` is {value} at {place}, but the code reads `{read}` ({read_place}), which"
        " is {read_value} ({set_place}).",
        why="A key under another name than the code asks for has no effect, and nothing says so:"
        " the training runs with the value that it had before. What was switched off stays on.",
        detected="Keys of configuration files that the repository's own Python reads, when no code"
        " takes a value of that name and another name is read that is made of the same words"
        " (`use_torch_compile` and `compile`, `save_every` and `save_interval`) or is one letter"
        " away, with another value in the same file or as the default in the code. Nothing is said"
        " of parts that are handed on as a whole (`**config`, `instantiate`), nor where a library"
        " reads the configuration.",
        fix="Keep one key, under the name that the code reads.",
    ),
    "contradicting-values": Wording(
        title="Values that contradict each other",
        sentence="`{key}` is {value} at {place}, but `{other}` is {other_value} at {other_place}.",
        why="Only one of the two can take effect, and which one is seldom the one that was meant:"
        " of a key that is given twice, the last; of a value that the trainer sets itself, the"
        " trainer's.",
        detected="In configurations that the repository's Python reads: a key given twice in one"
        " YAML mapping with different values; `fp16` and `bf16` both on, a warm-up as long as the"
        " training, a least learning rate above the learning rate; and a value that the trainer"
        " replaces by a fixed one under no condition.",
        fix="Keep the value that you mean.",
    ),
    "unused-key": Wording(
        title="A key that nothing reads",
        sentence="No code mentions `{key}` ({place}).",
        why="A key without a reader is a setting that one believes in and that does nothing: left"
        " over, misspelt, or for a version of the code that is gone.",
        detected="Keys of configuration files that the repository's own Python reads, whose name"
        " is in no Python file at all. Nothing is said of parts that are handed on as a whole, of"
        " files of other tools, of notes for people such as `description`, nor where a whole"
        " configuration goes somewhere that cannot be followed.",
        fix="Remove it, or let the code read it.",
    ),
    "collects-garbage-often": Wording(
        title="Garbage collected by hand, again and again",
        sentence="`gc.collect()` is called {calls:time|times} in a row, and training waits each"
        " time.",
        why="A full collection goes through every object of the process, which takes from tens of"
        " milliseconds to a second in a training process. Tensors are freed by their reference"
        " counts without it, and a second collection right after the first finds nothing. An"
        " emptied cache on top makes the next step ask the driver for its memory again.",
        detected="`gc.collect()` in every step of a training loop, or several times in a row where"
        " a training loop or a save comes past. A single collection after a save or an"
        " evaluation, one of the young generations only, one under a condition on the step, and"
        " those of scripts that do not train are left alone.",
        fix="Collect once, or not at all in the loop.",
    ),
    "empties-cache": Wording(
        title="The cache of device memory is emptied",
        sentence="`{code}` gives memory back that the next step asks for again.",
        why="PyTorch keeps freed device memory to use it again at once. Emptied, it waits for the"
        " device, and the next step gets its memory from the driver, which takes milliseconds"
        " and waits again. It makes nothing possible that would not be possible without it,"
        " except for other processes on the same device.",
        detected="`empty_cache()` in every step of a training loop, or after a save in the same"
        " function. It is left alone after evaluations, under conditions, and in files that"
        " gather a sharded model for a save.",
        fix="Leave it out; `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` helps against"
        " fragmentation.",
    ),
    "synchronizes-every-step": Wording(
        title="Every step waits for the device",
        sentence="`{code}` in every step: nothing is launched while the device finishes what it"
        " has.",
        why="Python prepares the next step while the device computes the present one. A wait in"
        " every step ends that: the device idles while the next launches are prepared.",
        detected="`synchronize()` of a device in every step of a training loop. It is left alone"
        " under conditions on the step, and beside a clock that is read, where the time would be"
        " wrong without it.",
        fix="Leave it out, or do it only in steps that are timed.",
    ),
    "waits-for-values-every-step": Wording(
        title="Every step waits for a value",
        sentence="`{code}` in every step: Python waits for the device before it prepares the next"
        " step.",
        why="The value of a tensor on the device is known when the device has come so far. To read"
        " it in every step, for a log or a running mean, makes the device idle while the next"
        " step is launched; short steps lose most by it.",
        detected="`.item()` and `.tolist()` of a loss, a norm, an accuracy or an output in every"
        " step of a training loop on a device. It is left alone under conditions on the step, in"
        " evaluations, and in loops that wait anyway because they time every step.",
        fix="Keep it as a tensor on the device, and read it every so many steps.",
    ),
    "loader-restarts-workers": Wording(
        title="Loader workers start anew in every epoch",
        sentence="{workers:worker process is|worker processes are} ended and started again"
        " whenever the loader is gone through anew.",
        why="Each worker is a process that imports and copies what the data set needs. To start"
        " them takes seconds, and the first batches have to be waited for, at every epoch and"
        " every evaluation.",
        detected="Data loaders with workers and without `persistent_workers`, that a loop of"
        " epochs goes through, or that a trainer's hook such as `train_dataloader` returns. One"
        " that every epoch makes anew is left alone.",
        fix="Keep the workers.",
    ),
    "loader-workers": Wording(
        title="Loader workers do not fit the machine",
        sentence="The data loader has {workers:worker|workers}, and {cores:core is|cores are} there"
        " to be used.",
        why="Without workers, every batch is read and prepared between two steps, and the device"
        " waits for it. With more workers than cores, they take turns with each other and with"
        " the training itself.",
        detected="Data loaders of trainings whose number of workers can be told: no workers,"
        " where the loader is for training on a device and its data is not in memory already; or"
        " more than there are cores, by affinity and by the limits of every control group. It is"
        " only perhaps so where nothing is decoded, or where this machine has no accelerator.",
        fix="Set a number of workers that leaves a core for the training.",
    ),
    "loader-not-pinned": Wording(
        title="Copies that cannot overlap",
        sentence="`non_blocking=True` at {copied} waits all the same: the loader's batches are not"
        " in pinned memory.",
        why="A device can only fetch from page-locked memory by itself. A batch in ordinary memory"
        " is copied twice, and Python waits for it.",
        detected="Data loaders without `pin_memory` in files that copy with `non_blocking=True`"
        " in a loop. Files that pin memory themselves, or leave the copies to a library, are left"
        " alone.",
        fix="Let the loader pin its batches.",
    ),
    "saves-too-often": Wording(
        title="Saving takes more time than it is worth",
        sentence="A save costs {cost} and comes every {every:step|steps}, by the log: {share} of"
        " the time. Every {steps:step|steps} would be enough.",
        why="What a save costs is what it stops training for, and what slows training down"
        " afterwards. Saved too often, that is more than the work it protects.",
        detected="From a log, by what saves were measured to cost in it: more than one percent of"
        " the time, or, where the log shows several failures, an interval below the one that"
        " loses least to saves and to repeated work together (Young, Daly).",
        fix="Save every {steps:step|steps}.",
    ),
    "evaluates-too-often": Wording(
        title="Evaluating takes more than a hundredth of the time",
        sentence="An evaluation costs {cost} and comes every {every:step|steps}, by the log:"
        " {share} of the time.",
        why="Training stands still while it evaluates, and the curve of the evaluation seldom"
        " needs as many points.",
        detected="From a log, by what evaluations were measured to cost in it: more than one"
        " percent of the time.",
        fix="Evaluate every {steps:step|steps}, or on fewer batches.",
    ),
    "saves-too-rarely": Wording(
        title="A failure costs much work",
        sentence="The log shows a failure every {apart} on average, and a save every"
        " {every:step|steps}; saving every {best} ({steps:step|steps}) would lose least.",
        why="Everything since the last save is done again after a failure. The best interval"
        " balances that against what saves cost (Young, Daly).",
        detected="From a log with several failures, by what saves were measured to cost in it.",
        fix="Save every {steps:step|steps}.",
    ),
}
UNKNOWNS: dict[str, str] = {}
"""Templates of what could not be told, by id; whole sentences."""
