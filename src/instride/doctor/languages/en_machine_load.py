"""English: memory, rivals, priorities and GPUs."""

from __future__ import annotations

from instride.doctor.languages.template import Wording

WORDINGS: dict[str, Wording] = {
    "swapping-now": Wording(
        title="Memory is being swapped",
        sentence="Memory and swap exchange {speed} right now.",
        why="A step that touches swapped memory waits for a disk, a thousand times longer than for"
        " memory. Saving makes it worse: it wants memory for a copy and for the page cache.",
        detected="The counters of pages swapped in and out, read twice half a second apart. Pages"
        " must come in, at 1 MB/s or more; memory that was only swapped out is left alone.",
        fix="See who takes the memory, and end or limit what is not needed.",
    ),
    "memory-short": Wording(
        title="Programs wait for memory",
        sentence="In {share} of the last minute, programs waited for memory.",
        why="Without free memory, the kernel takes pages away that are wanted again at once. Steps"
        " get slower, and the next large allocation may end a process.",
        detected="The kernel's pressure figures: 5 % or more of a minute in which at least one task"
        " waited for memory, while nothing is swapped.",
        fix="See who takes the memory, and end or limit what is not needed.",
    ),
    "snapshot-does-not-fit": Wording(
        title="Memory does not hold a copy of a checkpoint",
        sentence="A checkpoint has {size}, and {available} of memory are available: saving in the"
        " background has no room for its copy.",
        why="To go on while a checkpoint is written, training needs a copy of the state in host"
        " memory. Where that does not fit, the copy swaps, or the process is killed by the limit of"
        " its container.",
        detected="The largest of the latest checkpoints, against MemAvailable and every memory"
        " limit of the control groups above this process. A training that runs already has its"
        " memory taken.",
        fix="Raise the limit, or make memory free; until then, save in the foreground.",
    ),
    "small-shm": Wording(
        title="Little shared memory",
        sentence="/dev/shm holds {size} only: data loader workers hand batches over through it.",
        why="Containers get 64 MB unless told otherwise. When it is full, a worker dies with a bus"
        " error in the middle of an epoch.",
        detected="The size of the tmpfs at /dev/shm: 512 MB or less. With no loader workers it does"
        " no harm.",
        fix="Start the container with more, or mount it again with more.",
    ),
    "swap-in-use": Wording(
        title="Much of the swap is in use",
        sentence="{used} of {total} of swap are in use.",
        why="What was swapped out may never be wanted again. If it is, a step waits for a disk.",
        detected="At least 1 GB and half of the swap in use; compressed memory used as swap does"
        " not count. Whether it hurts cannot be told while nothing moves.",
        fix="See what was swapped out.",
    ),
    "dirty-limits": Wording(
        title="Much unwritten data may pile up",
        sentence="Up to {limit} may wait in memory to be written to `{path}`, which takes {speed}:"
        " {seconds} of writing at once.",
        why="Linux lets programs write into memory until a limit, then stops them until the disk"
        " has caught up. On machines with much memory the limit is far beyond what the disk takes"
        " in a moment, so a save seems quick, and later ones, syncs and logs stand still.",
        detected="The sysctl `vm.dirty_bytes` or `vm.dirty_ratio`, divided by the speed that was"
        " measured: 30 seconds or more.",
        fix="Let the kernel begin to write earlier.",
    ),
    "rival-process": Wording(
        title="Other programs are at work",
        sentence="Right now, {share} of the processors go to {names}.",
        why="Compressors, sync clients, indexers and other trainings take processors from the"
        " loader and the launches of kernels, and the disk from saves. They come back with each"
        " checkpoint.",
        detected="Half a second of all processes: known compressors, sync clients and indexers from"
        " 5 % of all processors or 20 MB/s on; others from 20 % on if they have run for a while,"
        " and only as worth a look. The training of the repository that was named is left alone.",
        fix="Let it yield, or do its work after the training.",
    ),
    "rival-reads-checkpoints": Wording(
        title="Something else has checkpoints open",
        sentence="`{file}` is open in {names}, while training may be saving.",
        why="Whoever reads checkpoints as they appear competes for the disk at the worst moment,"
        " may read a file before it is whole, and keeps the space of a deleted one in use.",
        detected="Files that end like a checkpoint's, open for reading below the checkpoint"
        " directory. Compressors, sync clients and indexers count; other programs only as worth a"
        " look.",
        fix="Let it yield, or begin after the training.",
    ),
    "priority-does-nothing": Wording(
        title="A low priority that does nothing",
        sentence="The low priority ({priority}) of {names} counts for nothing against training: a"
        " scheduling group of its own competes as an equal.",
        why="Linux first shares the processors among groups, and only then, by nice values, inside"
        " each. Every terminal session and every service is such a group (an autogroup or a control"
        " group), so `nice`, `renice` and `SCHED_IDLE` count for nothing against a training that"
        " was started elsewhere.",
        detected="Busy processes with a nice value of 5 or more or in the idle class, whose"
        " autogroup or control group is not that of the training, or else of this terminal, and has"
        " no low weight itself.",
        fix="Lower the group, not the process.",
    ),
    "ionice-does-nothing": Wording(
        title="An idle disk priority that does nothing",
        sentence="{names} asked to use the disk only when it is idle; the scheduler `{scheduler}`"
        " of {disk} knows no such thing.",
        why="Which request goes first is decided by the I/O scheduler of the disk. `none`, usual"
        " for NVMe, and `kyber` take them as they come.",
        detected="Processes in the idle I/O class that read or write now, and the active scheduler"
        " of the disks below the checkpoint directory.",
        fix="Choose a scheduler that knows priorities, or limit the program's rate itself.",
    ),
    "gpu-throttled": Wording(
        title="The GPU is slowed down",
        sentence="{gpu} runs below its clocks: {reason}.",
        why="A GPU that is too hot, gets too little power or has a lowered power limit computes"
        " slower, and in a group of them all others wait for it.",
        detected="The reasons that the driver gives for low clocks: heat, slowdown by hardware,"
        " power brake; and a power limit below four fifths of the default. Being idle and staying"
        " within the default limit are left alone.",
        fix="See to cooling and power, or raise the limit.",
    ),
    "gpu-shared": Wording(
        title="The GPU has other guests",
        sentence="{processes:other process computes|other processes compute} on {gpu}.",
        why="Processes on one GPU take turns: each gets part of the time, and the memory is shared"
        " out.",
        detected="Processes that compute on the GPU, by its driver, without those of the repository"
        " that was named. Inside a container their numbers mean nothing, and a single one may be"
        " the training itself: that is only worth a look.",
        fix="See whose they are.",
    ),
    "gpu-link-narrow": Wording(
        title="The GPU is connected by fewer lanes",
        sentence="{gpu} is linked by {lanes:lane|lanes} of PCIe, and could be by {possible}.",
        why="Batches to the GPU and states from it pass this link; half the lanes take twice as"
        " long.",
        detected="The current width of the link below the widest that GPU and slot can do, by the"
        " driver.",
        fix="Plug it in again, or use a slot with all lanes; until then, see the link here.",
    ),
    "gpu-memory-full": Wording(
        title="The memory of the GPU is nearly taken",
        sentence="{gpu} has {free} of {total} free.",
        why="A training that starts here runs out of memory, or gets a smaller batch than it could"
        " have.",
        detected="Less than a tenth free, and not by the training of the repository that was"
        " named.",
        fix="See who holds it; processes that have ended in part may have to be killed.",
    ),
}
