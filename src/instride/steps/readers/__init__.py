"""All readers, the most particular first: where two recognise a log equally, the earlier wins."""

from __future__ import annotations

from instride.steps.readers.build_nanogpt import BuildNanoGPT
from instride.steps.readers.caffe import Caffe
from instride.steps.readers.composer import Composer
from instride.steps.readers.contract import Reader
from instride.steps.readers.coqui import Coqui
from instride.steps.readers.deepspeed import DeepSpeed
from instride.steps.readers.detectron2 import Detectron2
from instride.steps.readers.fairseq import Fairseq
from instride.steps.readers.hf_state import HFState
from instride.steps.readers.hf_trainer import HFTrainer
from instride.steps.readers.journal import Journal
from instride.steps.readers.lerobot import LeRobot
from instride.steps.readers.lightning import Lightning
from instride.steps.readers.litgpt import LitGPT
from instride.steps.readers.llamafactory import LlamaFactory
from instride.steps.readers.llmc import LlmC
from instride.steps.readers.llmc_pytorch import LlmCPyTorch
from instride.steps.readers.maxtext import MaxText
from instride.steps.readers.megatron import Megatron
from instride.steps.readers.metriclogger import MetricLogger
from instride.steps.readers.mlperf import MLPerf
from instride.steps.readers.mmengine import MMEngine
from instride.steps.readers.modded_nanogpt import ModdedNanoGPT
from instride.steps.readers.mxnet import MXNet
from instride.steps.readers.nanochat import NanoChat
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.readers.neox import GptNeoX
from instride.steps.readers.open_clip import OpenClip
from instride.steps.readers.opennmt import OpenNMT
from instride.steps.readers.openpi import OpenPi
from instride.steps.readers.paddle import Paddle
from instride.steps.readers.step_timing import StepTiming
from instride.steps.readers.tensorboard import TensorBoard
from instride.steps.readers.timm import Timm
from instride.steps.readers.torchtitan import TorchTitan
from instride.steps.readers.torchtune import Torchtune
from instride.steps.readers.tqdm import Tqdm
from instride.steps.readers.ultralytics import Ultralytics
from instride.steps.readers.verl import Verl
from instride.steps.readers.wandb import Wandb
from instride.steps.readers.yolox import Yolox

READERS: tuple[type[Reader], ...] = (
    Journal,
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
    Detectron2,
    Fairseq,
    MMEngine,
    OpenClip,
    OpenNMT,
    Timm,
    HFState,
    LlamaFactory,
    Torchtune,
    OpenPi,
    LeRobot,
    LitGPT,
    MaxText,
    Composer,
    Wandb,
    TensorBoard,
    Lightning,
    HFTrainer,
    DeepSpeed,
    MetricLogger,
    Yolox,
    Coqui,
    Paddle,
    MXNet,
    Caffe,
    MLPerf,
    Ultralytics,
    Tqdm,
)
