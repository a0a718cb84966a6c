"""All readers, the most particular first: where two recognise a log equally, the earlier wins."""

from __future__ import annotations

from instride.steps.readers.build_nanogpt import BuildNanoGPT
from instride.steps.readers.contract import Reader
from instride.steps.readers.deepspeed import DeepSpeed
from instride.steps.readers.hf_state import HFState
from instride.steps.readers.hf_trainer import HFTrainer
from instride.steps.readers.llamafactory import LlamaFactory
from instride.steps.readers.llmc import LlmC
from instride.steps.readers.llmc_pytorch import LlmCPyTorch
from instride.steps.readers.megatron import Megatron
from instride.steps.readers.modded_nanogpt import ModdedNanoGPT
from instride.steps.readers.nanochat import NanoChat
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.readers.neox import GptNeoX
from instride.steps.readers.step_timing import StepTiming
from instride.steps.readers.torchtitan import TorchTitan
from instride.steps.readers.torchtune import Torchtune
from instride.steps.readers.tqdm import Tqdm
from instride.steps.readers.verl import Verl

READERS: tuple[type[Reader], ...] = (
    StepTiming,
    ModdedNanoGPT,
    NanoChat,
    LlmC,
    LlmCPyTorch,
    BuildNanoGPT,
    NanoGPT,
    TorchTitan,
    Verl,
    GptNeoX,
    Megatron,
    HFState,
    LlamaFactory,
    Torchtune,
    HFTrainer,
    DeepSpeed,
    Tqdm,
)
