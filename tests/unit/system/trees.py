"""Made-up /proc and control group trees."""

from __future__ import annotations

from pathlib import Path

GIB = 1 << 30


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Tree:
    """A machine with control groups; paths of groups begin below the hierarchy's mount."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        self._root = root
        self._mounts = ["1 0 8:1 / / rw - ext4 /dev/sda1 rw"]
        self.available(64 * GIB)

    def available(
        self, num_bytes: int, *, commit_limit: int = 128 * GIB, committed: int = 0
    ) -> None:
        figures = {
            "MemTotal": 128 * GIB,
            "MemAvailable": num_bytes,
            "CommitLimit": commit_limit,
            "Committed_AS": committed,
        }
        lines = [f"{name}: {value // 1024} kB\n" for name, value in figures.items()]
        write(self.proc / "meminfo", "".join(lines))

    def mount(self, version: int, controllers: str = "", seen_from: str = "/") -> Path:
        """Mount a hierarchy; the folder that its root is."""
        point = self._root / (f"cgroup-{controllers}" if controllers else "cgroup2")
        point.mkdir(parents=True, exist_ok=True)
        kind = "cgroup" if version == 1 else "cgroup2"
        number = len(self._mounts) + 1
        line = f"{number} 1 0:{number} {seen_from} {point} rw,nosuid - {kind} {kind} rw"
        self._mounts.append(f"{line},{controllers}" if controllers else line)
        write(self.proc / "self/mountinfo", "\n".join(self._mounts) + "\n")
        return point

    def process(self, pid: int | str, *lines: str) -> None:
        """Put a process into groups: `4:memory:/a/b`, `0::/a/b`."""
        write(self.proc / str(pid) / "cgroup", "\n".join(lines) + "\n")

    def autogroup(self, pid: int, text: str) -> None:
        write(self.proc / "sys/kernel/sched_autogroup_enabled", "1\n")
        write(self.proc / str(pid) / "autogroup", text)


def limit_v2(folder: Path, limit: str, used: int, stat: str = "") -> None:
    write(folder / "memory.max", f"{limit}\n")
    write(folder / "memory.current", f"{used}\n")
    write(folder / "memory.stat", stat)


def limit_v1(folder: Path, limit: int, used: int, stat: str = "") -> None:
    write(folder / "memory.limit_in_bytes", f"{limit}\n")
    write(folder / "memory.usage_in_bytes", f"{used}\n")
    write(folder / "memory.stat", stat)
