"""English: saving, cleaning up and compressing."""

from __future__ import annotations

from instride.doctor.languages.template import Wording

WORDINGS: dict[str, Wording] = {
    "save-in-place": Wording(
        title="Checkpoints written under their final name",
        sentence="A checkpoint is written straight to `{target}`: if the run is killed meanwhile,"
        " a torn file has the name of a whole one.",
        why="Writing a large checkpoint takes seconds to minutes. A crash, a full disk or the end"
        " of a job's time in between leaves part of a file under the name that resuming looks"
        " for; where that name is used again for each save, the checkpoint before it is gone, too."
        " Programs that watch the folder read the file before it is whole.",
        detected="Calls of `torch.save` that a training loop reaches, directly, through functions"
        " of the repository or in a thread, when what they save looks like a checkpoint. Left"
        " alone are names with `tmp` or the like in them, files that are renamed afterwards,"
        " buffers, stores that take an upload only as a whole, and saves after the training.",
        fix="Write beside the final name, make it durable, then rename; or call `instride.save`,"
        " which does all three.",
    ),
    "save-blocks-training": Wording(
        title="Training waits for each save",
        sentence="The loop at {loop} stands still until `torch.save` has written everything.",
        why="`torch.save` copies tensors from the device, packs them and writes them, one after"
        " the other; for all that time the device has nothing to do. Only the copy has to happen"
        " before the next step.",
        detected="Calls of `torch.save` for checkpoints that a training loop reaches in its own"
        " thread. Left alone are saves in a thread or a process, into memory, after the loop,"
        " and on the way out of it; and those of `instride.Saver` and `instride.save`.",
        fix="Copy the state to memory, and have it written while training goes on. On Linux,"
        " `instride.save` does so in place of `torch.save`, and `instride.Saver` resumes and prunes"
        " as well; elsewhere a thread can. It takes as much free memory as a checkpoint is large.",
    ),
    "shallow-copy-to-thread": Wording(
        title="A thread saves what training is changing",
        sentence="`{state}` is handed to a thread without a copy of its tensors: the checkpoint"
        " mixes steps.",
        why="`state_dict()` returns the tensors themselves, and the values of an optimizer's state"
        " are dictionaries: copying its outermost values, or only those that are tensors, copies"
        " nothing. While the thread writes, training changes what is being written, so that the"
        " checkpoint belongs to no step. It loads without an error.",
        detected="Threads and pools that write a checkpoint, and what they are given, put into"
        " their queue or close over: a `state_dict()` as it is, in a new dictionary, or with only"
        " the outermost values of an optimizer's state copied. A deep copy, or a function that"
        " cannot be seen through, is taken for a copy.",
        fix="Copy every tensor before the thread gets it.",
    ),
    "daemon-thread-saves": Wording(
        title="A daemon thread writes checkpoints",
        sentence="`{thread}` is a daemon thread: when the program ends, it is stopped in the middle"
        " of what it writes.",
        why="Python does not wait for daemon threads at exit. The last checkpoint of a run, the one"
        " that matters most, is cut off where it happens to be.",
        detected="Threads made with `daemon=True` whose function writes a checkpoint, when nothing"
        " in the file waits for a thread or a queue after the last save.",
        fix="Let Python wait for it: no daemon, or a `join()` after the last save.",
    ),
    "module-pickled": Wording(
        title="A whole module is pickled",
        sentence="`{module}` is saved as an object, not as its state: the file breaks when the code"
        " changes.",
        why="The pickle refers to classes by the place they had. After a rename it does not load,"
        " and `torch.load` refuses it unless told to run whatever is in the file.",
        detected="`torch.save` of a name that is called like a model and used like one in the same"
        " file: `parameters()`, `state_dict()`, `train()`, `eval()`.",
        fix="Save `state_dict()`; where the file is read, build the module and call"
        " `load_state_dict()`.",
    ),
    "two-cleaners": Wording(
        title="Two owners of the old checkpoints",
        sentence="Old checkpoints are deleted by `{one}` and also by `{other}`; neither knows of"
        " the other.",
        why="Each counts files that the other is about to delete, or that are still being written."
        " Together they keep fewer than either promises, at worst none that is whole.",
        detected="A function that deletes old checkpoints, beside something else that does: an"
        " option of a trainer (`save_total_limit`, `save_top_k`), the configuration of a tool that"
        " no Python code of the repository reads, or a script that deletes by age or number. An"
        " option that the function itself reads is no second owner.",
        fix="Leave it to one of them.",
    ),
    "deletes-before-saving": Wording(
        title="The old checkpoint goes before the new one is there",
        sentence="`{delete}` runs before the new checkpoint is written: in between there is one"
        " fewer, and a failed save leaves it so.",
        why="A save can fail: a full disk, a kill, an exception. What was deleted to make room for"
        " it is gone then, and with a limit of one that was the only checkpoint.",
        detected="In code that a training loop reaches: a checkpoint deleted in the same block as a"
        " save that comes after it. Left alone are temporary files and folders emptied before the"
        " training.",
        fix="Delete when the new checkpoint is written.",
    ),
    "orders-by-mtime": Wording(
        title="Checkpoints ordered by time, not by step",
        sentence="`{code}` orders checkpoints by the time of their files, which copying and syncing"
        " change.",
        why="Copying, syncing, unpacking or touching files changes their times, and a file still"
        " being written is the newest of all. Then the wrong checkpoint is resumed or deleted.",
        detected="`sorted`, `sort`, `max` or `min` over checkpoints with the time of the file as"
        " key, and `ls -t` over checkpoints in scripts.",
        fix="Order by the step in the name.",
    ),
    "unanchored-step-pattern": Wording(
        title="A step pattern that matches too much",
        sentence="`{pattern}` also takes `{example}` for a checkpoint.",
        why="Leftovers of a save that was cut off, packed copies and backups have names that begin"
        " like a checkpoint's. Resuming from one of them fails; cleaning up counts or deletes it.",
        detected="`re.search` and `re.match` with a pattern of a word and a number and nothing that"
        " ends it, on names of a listed folder. Left alone are patterns that end in `$`,"
        " `re.fullmatch`, and names from a glob that fixes the end.",
        fix="Match the whole name.",
    ),
    "compressor-beside-training": Wording(
        title="A compressor runs beside training",
        sentence="`{command}` compresses while training runs, without a priority that works there.",
        why="A compressor takes every core it gets, and a training step waits for the slowest of"
        " its own threads: data loading, launching kernels, the collective. On two cores steps took"
        " 3 to 5.7 times as long. `nice` helps only within one session: a process of another"
        " terminal, service or container is weighed against training as an equal.",
        detected="What makefiles, shell scripts, units, compose and Procfiles start in the"
        " background beside training: compressors by name, programs with `compress` in their name,"
        " and those whose configuration turns compression on. `nice` in the same session, a CPU"
        " weight, limit or set of its own, and the idle class in the same session count as a"
        " priority that works.",
        fix="Start it with the lowest priority, in a way that works where it runs.",
    ),
    "syncer-beside-training": Wording(
        title="A sync runs beside training",
        sentence="`{command}` copies files while training runs, without a limit or a priority that"
        " works there.",
        why="It reads checkpoints while they are being written, fills the page cache and the disk's"
        " queue that data loading needs, and sends files that are not whole.",
        detected="What makefiles, shell scripts, units, compose and Procfiles start in the"
        " background beside training: `rsync`, `rclone`, `aws s3`, `gsutil`, `gcloud storage`,"
        " `azcopy`, `s5cmd`, `syncthing` and the like. A bandwidth limit or a priority that works"
        " is enough.",
        fix="Limit its bandwidth and give it the lowest priority.",
    ),
    "whole-file-compression": Wording(
        title="Whole checkpoints are compressed",
        sentence="`{setting}` compresses whole checkpoint files: trained weights hardly shrink.",
        why="The bits of trained weights are close to noise. Plain zstd leaves 93 % of fp32"
        " weights and 78 % of bf16 ones, and takes a core for the whole time; a higher level"
        " changes nothing.",
        detected="Compression turned on in a configuration for checkpoints, and `torch.save` into"
        " `gzip`, `bz2`, `lzma` or `zstd` files.",
        fix="Turn it off.",
    ),
}
UNKNOWNS: dict[str, str] = {}
"""Templates of what could not be told, by id; whole sentences."""
