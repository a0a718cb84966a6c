"""The machine: where checkpoints land, memory, rivals, priorities and the GPU."""

from instride.doctor.machine.examining import examine_machine

__all__ = ["examine_machine"]
