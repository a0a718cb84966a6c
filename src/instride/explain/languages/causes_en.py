"""English: the causes by name, what helps, what else it could be, and how it was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.contract import Language

LOG_TIMES = "print the time before and after it"


class EnglishCauses(Language):
    titles: ClassVar[Mapping[str, str]] = {
        "eval": "Evaluation",
        "first-eval": "A slow first evaluation",
        "eval-and-save": "Evaluation and save in one pause",
        "closing-eval": "Evaluation after the last step",
        "closing-eval-and-save": "Evaluation and save after the last step",
        "save": "Synchronous save",
        "closing-save": "Save after the last step",
        "growing-saves": "Saves that take longer and longer",
        "slow-filesystem": "A slow file system",
        "cleanup": "Old checkpoints deleted on the training thread",
        "aftermath": "Slow steps after a save",
        "warmup": "Compilation and caches in the first steps",
        "recompilation": "Compilation in the middle of a run",
        "startup": "Start-up",
        "epoch-stalls": "A loader that starts anew with every epoch",
        "worker-turns": "A loader with too few workers",
        "shard-switches": "A switch to the next data file",
        "data-stalls": "Waiting for data, now and then",
        "data-chronic": "Waiting for data in every step",
        "restart": "Nothing running between two processes",
        "failed-launches": "Launches before the first step",
        "never-again": "Launches that never trained",
        "crash-loop": "A crash loop",
        "lost": "Work that was done twice",
        "allocator-flushes": "An allocator short of memory",
        "collector-pauses": "Garbage collection or a cleaning allocator",
        "periodic": "Slow steps at equal distances",
        "closing-unknown": "Unknown work after the last step",
        "slow-zone": "A stretch of slow steps",
        "slow-steps": "Single slow steps",
        "drift": "Steps that get slower all the time",
        "slower-since-resume": "Slower since a resume",
        "slower-since": "Slower since a step",
        "faster-since": "Faster since a step",
        "hidden-time": "Time that no printed number shows",
    }
    rungs: ClassVar[Mapping[str, str]] = {
        "stated": "the log states it",
        "marker": "the log marks it",
        "period": "the distance matches a setting or marked pauses",
        "shape": "by the shape of the times only",
    }
    cures: ClassVar[Mapping[str, str]] = {
        "evaluate-less": "evaluate less often",
        "evaluate-fewer": "evaluate on fewer batches",
        "time-apart": "time evaluation and save apart, to see which one costs",
        "save-async": "save in the background",
        "save-less": "save less often",
        "save-more": "save more often, so that less is lost",
        "save-if-better": "save only when the evaluation got better",
        "save-near": "save to a local disk, and copy from there",
        "save-once": "see whether files or histories are written again with every save",
        "save-on-signal": "save when the process is told to end",
        "delete-later": "delete old checkpoints in another process",
        "yield-to-training": "give what works on the checkpoint (compression, upload) the lowest "
        "priority",
        "work-later": "let what works on the checkpoint wait until training ends",
        "skip-when-busy": "skip a save while the one before is still being written",
        "spend-less": "let writing cost a smaller share of the step time (0.02 by default)",
        "pack-later": "if it packs, pack when training is over, with `instride pack`",
        "cache-compiled": "keep the compile cache between runs",
        "cache-startup": "cache what start-up prepares (tokenised data, compiled code)",
        "fix-shapes": "keep shapes fixed: pad, drop the last short batch, evaluate with a graph "
        "of its own",
        "log-recompiles": "let the compiler say what it compiles again, and why",
        "keep-workers": "keep loader workers alive between epochs",
        "more-workers": "use more loader workers",
        "prefetch": "prefetch more batches",
        "prefetch-shard": "open the next data file in the background before it is needed",
        "cheaper-data": "decode less in every step: prepare the data once, or use a faster disk",
        "resume-by-itself": "resume automatically when a process ends",
        "read-error": "read the last error in the log",
        "limit-restarts": "stop after a few failures of the same kind",
        "collect-on-schedule": "switch off automatic garbage collection and collect every so many "
        "steps, on all ranks at once",
        "spare-memory": "leave the allocator more room: a smaller batch, expandable segments",
        "compare-intervals": "log what the loop does at these steps; compare with the intervals "
        "set",
        "compare-settings": "compare batch size, sequence length and other jobs before and after",
        "compare-processes": "compare machine, free GPU memory and loader settings of the two "
        "processes",
        "print-around": "print a line with the time before and after what is done there",
        "trust-clock": "judge the speed by timestamps, not by the printed step time",
        "watch-machine": "watch CPU, disk and GPU clocks while it happens",
        "watch-memory": "watch the memory of the process and swapping while steps get slower",
        "watch-disk": "watch the disk while it saves",
        "watch-clocks": "watch the clocks and the temperature of the GPU",
    }
    alternatives: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "eval": (
            ("metrics computed on one core after the last batch", "time the metrics apart"),
            ("a loader that starts anew for the evaluation", LOG_TIMES + ": its first batch"),
        ),
        "first-eval": (
            ("a larger first evaluation", "compare the number of batches of the first two"),
            ("a cold page cache", "read the evaluation data once before the start"),
        ),
        "eval-and-save": (("one of the two alone", "leave out one of them once"),),
        "closing-eval": (("a full evaluation on purpose", "compare the number of batches"),),
        "closing-eval-and-save": (("one of the two alone", LOG_TIMES),),
        "save": (
            ("a slow file system", "divide the size of the file by the seconds; compare with dd"),
            ("serialising on one core", "see whether the disk is idle while it saves"),
            ("ranks that wait for the slowest", "compare the times that the ranks print"),
        ),
        "closing-save": (("an upload or a conversion after it", LOG_TIMES),),
        "growing-saves": (
            ("a disk that fills up", "look at its free space"),
            ("other jobs on the same storage", "time a file of fixed size beside each save"),
        ),
        "slow-filesystem": (
            ("serialising on one core", "see whether the disk is idle while it saves"),
            ("other work counted in", "write a file of that size there with dd, and time it"),
        ),
        "cleanup": (("a slow metadata server", "time the deletion of a small file there"),),
        "aftermath": (
            ("the kernel writing back dirty pages", "watch Dirty and Writeback in /proc/meminfo"),
            ("a compressor or an upload", "look for a busy process with top"),
            ("an allocator that was emptied for the save", "count allocation retries"),
        ),
        "warmup": (
            ("a cold page cache", "start again at once: are the first steps faster?"),
            ("autotuning", "look for its lines, or switch it off once"),
        ),
        "recompilation": (
            ("loading of something needed for the first time", "look for lines beside the step"),
            ("the evaluation itself, charged to the step after it", LOG_TIMES),
        ),
        "startup": (("a queue for machines or data", "print the time at the first line of code"),),
        "epoch-stalls": (
            ("an evaluation or a save that is not printed", "print a line before each"),
            ("a shuffle of the whole data", "time the first batch of an epoch apart"),
        ),
        "worker-turns": (
            ("gradient accumulation or logging at that interval", "compare with the settings"),
            ("a reader of files with that many records", "change num_workers: does it follow?"),
        ),
        "shard-switches": (
            ("something that a clock sets off", "compare the times, not the steps, between them"),
            ("garbage collection", "switch it off for a while: gc.disable()"),
        ),
        "data-stalls": (
            ("a save charged to the next wait for data", "compare with the steps of saves"),
            ("a network file system", "read the same file with dd when it happens"),
        ),
        "data-chronic": (
            ("a copy to the GPU that is counted in", "time the copy apart"),
            ("too few cores for the workers", "compare num_workers with the cores you have"),
        ),
        "restart": (
            ("data skipped batch by batch at the resume", "look for such a line after the launch"),
            ("a queue", "compare the time of the launch with that of the first step"),
        ),
        "failed-launches": (
            ("tests of the program, stopped on purpose", "look at their last lines"),
        ),
        "never-again": (("a log that was copied too early", "look at the end of the file again"),),
        "crash-loop": (("runs that were stopped on purpose", "look at their last lines"),),
        "lost": (("another run in the same log", "compare the first losses of both"),),
        "allocator-flushes": (
            ("other work at the same steps", "log the allocator's statistics every step"),
        ),
        "collector-pauses": (
            ("the allocator giving memory back", "count allocation retries"),
            ("other processes", "watch the CPU at such a step"),
            ("a logger that flushes", "log less often: do they become fewer?"),
        ),
        "periodic": (
            ("an evaluation or a save that is not printed", "compare with the intervals set"),
            ("a data file that ends", "divide its tokens by those of a step"),
            ("a logger", "change its interval: does the distance follow?"),
        ),
        "closing-unknown": (("an upload, a conversion, a test", LOG_TIMES),),
        "slow-zone": (
            ("another job on the machine", "watch CPU, disk and GPU"),
            ("a GPU that clocks down", "watch its clocks and throttle reasons"),
            ("longer samples", "print the number of tokens of a step"),
        ),
        "slow-steps": (
            ("garbage collection", "switch it off for a while: gc.disable()"),
            ("a storage or network hiccup", "watch CPU, disk and network"),
            ("a new shape that is compiled", "let the compiler log what it compiles again"),
        ),
        "drift": (
            ("a memory leak that ends in swapping", "watch the memory and swapping (vmstat)"),
            ("a graph or a list that grows", "restart: are steps fast again?"),
            ("heat", "watch clocks and temperature of the GPU"),
            ("longer sequences by design", "print the number of tokens of a step"),
        ),
        "slower-since-resume": (
            ("another machine, or other jobs on it", "print the host name; watch CPU and GPU"),
            ("GPU memory that spills over", "compare free GPU memory before and after"),
            ("other settings", "compare the two heads of the log"),
        ),
        "slower-since": (
            ("a larger batch or longer sequences by design", "print the tokens of a step"),
            ("a compiler that gave up (limit of recompilations)", "look for its warning"),
            ("another job on the machine", "watch CPU, disk and GPU"),
        ),
        "faster-since": (("a smaller batch by design", "print the number of tokens of a step"),),
        "hidden-time": (
            ("hooks or loggers between the steps", LOG_TIMES),
            ("work that the trainer takes off its clock on purpose", "read where it starts it"),
        ),
    }
