"""English: the disks that checkpoints land on."""

from __future__ import annotations

from instride.doctor.languages.template import Wording

WORDINGS: dict[str, Wording] = {
    "little-space": Wording(
        title="Little room for checkpoints",
        sentence="`{path}` has {free} left: room for {checkpoints:checkpoint|checkpoints} of"
        " {size} more.",
        why="A disk that fills up in the middle of a save leaves half a checkpoint, and most"
        " trainers end with an error. Clean-up that deletes after saving needs room for one"
        " checkpoint more than it keeps.",
        detected="The space that users without privileges may take, divided by the largest of the"
        " latest checkpoints in the directory. Fewer than three is too close; whether something"
        " deletes old ones in time cannot be seen from here.",
        fix="Make room, or let checkpoints go to a disk that has it.",
    ),
    "disk-nearly-full": Wording(
        title="The disk for checkpoints is nearly full",
        sentence="`{path}` has {free} left.",
        why="A disk that fills up in the middle of a save leaves half a checkpoint, and most"
        " trainers end with an error.",
        detected="Less than 2 GB and less than 5 % free, where no checkpoint is there yet to tell"
        " how large one is.",
        fix="Make room, or let checkpoints go to a disk that has it.",
    ),
    "few-inodes": Wording(
        title="The filesystem takes few more files",
        sentence="`{path}` takes {files:file|files} more, however much space is left.",
        why="Filesystems such as ext4 have a fixed number of inodes, one for each file. When they"
        " are used up, nothing can be saved although `df` shows free space. Data sets of many"
        " small files and caches of package managers use them up.",
        detected="Fewer than a thousand free inodes. Filesystems that make inodes as they go are"
        " left alone.",
        fix="Find the directories with the most files, and pack or delete what is not needed.",
    ),
    "quota-near": Wording(
        title="A quota is nearly used up",
        sentence="Your quota leaves {left} of {limit} on the disk of `{path}`.",
        why="A save beyond the quota fails in the middle, although the disk has room.",
        detected="Quotas of the user and of the user's groups, as the kernel knows them: less than"
        " a tenth left, or less than three checkpoints. Those of a file server are not seen;"
        " limits on a directory show as little space.",
        fix="Make room, or ask for more.",
    ),
    "checkpoints-not-writable": Wording(
        title="Nothing can be written where checkpoints go",
        sentence="`{path}` cannot be written to: {error}.",
        why="The run fails at its first save, after all the work before it.",
        detected="Read-only mounts, missing permissions, files in place of directories and, with"
        " probes, an attempt to write. A directory that does not exist yet is judged by the one"
        " that it would be made in.",
        fix="Change the permissions, or name another directory.",
    ),
    "volatile-checkpoints": Wording(
        title="Checkpoints are kept in memory only",
        sentence="`{path}` is in memory ({filesystem}): checkpoints are gone after a restart of the"
        " machine, and take memory until then.",
        why="What lies in tmpfs, ramfs or on a compressed memory disk survives neither a crash of"
        " the machine nor a reboot, which is what checkpoints are for. Every checkpoint kept there"
        " leaves less memory for training.",
        detected="The filesystem type of the mount that the directory is on.",
        fix="Let checkpoints go to a disk; copy them to memory afterwards if they are read often.",
    ),
    "container-checkpoints": Wording(
        title="Checkpoints go with the container",
        sentence="`{path}` is in the container's own layer ({filesystem}): checkpoints are gone"
        " when the container is removed.",
        why="`docker rm`, `docker run --rm`, a rescheduled pod or a stopped cloud notebook delete"
        " the writable layer with all that is in it. Writing through it is slower than to a volume,"
        " too.",
        detected="The directory is on an overlay filesystem and not on a volume. Where containers"
        " are never removed, it does no harm.",
        fix="Mount a volume or a directory of the host there.",
    ),
    "faster-disk-nearby": Wording(
        title="A much faster disk is there",
        sentence="`{path}` ({filesystem}) takes {speed}, `{other}` {other_speed}, {times} as much:"
        " {size} are saved in {other_seconds} in place of {seconds}.",
        why="A save that training waits for takes as long as the disk does; one in the background"
        " holds its memory as long, and must be done before the next. Windows drives seen from WSL,"
        " network drives and old disks are often ten times slower than the disk beside them.",
        detected="Up to 256 MB are written and synced in turns to the directory and to the local"
        " disk with the most room among home, working directory and temporary files; a file"
        " without a name is used, of which nothing remains. At least two and a half times as fast"
        " counts, if the directory takes less than 1 GB/s.",
        fix="Save to the faster disk, and copy from there.",
    ),
    "slow-checkpoint-disk": Wording(
        title="The disk for checkpoints is slow",
        sentence="`{path}` ({filesystem}) takes {speed} when what is written is synced, too: {size}"
        " take {seconds}.",
        why="A save that training waits for takes as long as the disk does; one in the background"
        " holds its memory as long, and must be done before the next.",
        detected="Up to 256 MB are written and synced; a file without a name is used, of which"
        " nothing remains. Less than 100 MB/s counts. No faster local disk was found among home,"
        " working directory and temporary files.",
        fix="Look for a faster disk, save less often, or let something else than the training loop"
        " write.",
    ),
    "remote-checkpoint-disk": Wording(
        title="Checkpoints leave this machine",
        sentence="`{path}` is not on a disk of this system ({filesystem}).",
        why="Every write crosses a network, or the border to another operating system. Speed"
        " depends on who else is at work there, a rename may not be atomic, a sync may do nothing,"
        " and when the other side is gone, a save waits without an end.",
        detected="The filesystem type of the mount: Windows drives in WSL and object stores shown"
        " as folders always; file servers, folders of a host and unknown programs only where the"
        " speed was not measured.",
        fix="Save to a local disk, and let something else copy the finished file.",
    ),
}
