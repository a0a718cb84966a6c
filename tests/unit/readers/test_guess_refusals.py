"""Texts in which numbers grow, too, but nobody trains: better no answer than a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from instride.explain.languages import LANGUAGES
from instride.steps.readers.guess import guess

SENTENCE = "the model learns slowly but the loss went down and nobody knew why it stopped"
WORDS = SENTENCE.split()


def prose() -> list[str]:
    return [
        f"In {1990 + n} we ran {n * 3 + 2} trials, and after {n + 1} hours {WORDS[n % 15]} was "
        f"{WORDS[n * 7 % 15]}, as {WORDS[n * 3 % 15]} chapter {n + 2} says."
        for n in range(30)
    ]


def numbered_instructions() -> list[str]:
    verbs = ["Mix", "Bake", "Stir", "Rest", "Boil", "Cool", "Serve", "Clean"]
    return [f"Step {n + 1}: {verb} {WORDS[n]} {WORDS[n + 3]}." for n, verb in enumerate(verbs)]


def source_code() -> list[str]:
    lines = ["import time", "def train(model, steps=1000):"]
    for n in range(20):
        lines += [
            f"    # step {n}: time the forward pass",
            f"    x{n} = block_{n}(x, step={n * 7 % 5}, time=0.{n})",
            f"    if step == {n * 100}: print('step', step, 'time', dt)",
        ]
    return lines


def pip_output() -> list[str]:
    lines = []
    for n in range(12):
        lines += [
            f"Collecting package{n}>={n}.{n + 1}.0 (from -r requirements.txt (line {n + 1}))",
            f"  Downloading package{n}-{n}.2.{n}-py3-none-any.whl ({n * 10 + 3}.4 MB)",
            f"     {'-' * 20} {n}.1/{n}.1 MB {n + 5}.3 MB/s eta 0:00:0{n % 10}",
        ]
    return [*lines, "Successfully installed package0-0.2.0 package1-1.2.1"]


def table_of_contents() -> list[str]:
    return [f"{n}. {WORDS[n % 15].title()} of time {'.' * 20} {n * 12 + 3}" for n in range(1, 25)]


def build_with_times() -> list[str]:
    return [
        f"2025-03-01T10:00:{n:02}.123Z [{n + 1}/45] Building CXX object src/file{n}.o"
        for n in range(45)
    ]


def container_build() -> list[str]:
    commands = ["FROM base", "RUN apt-get update", "COPY . /app", "RUN pip install x", "WORKDIR /a"]
    commands += ["ENV A=1", "RUN make -j8 all", "EXPOSE 80", "USER nobody", "CMD python serve.py"]
    return [
        f"2025-03-01T10:0{n}:05.1Z Step {n + 1}/{len(commands)} : {command}"
        for n, command in enumerate(commands)
    ]


def echo_requests() -> list[str]:
    return [
        f"64 bytes from 10.0.0.1: icmp_seq={n} ttl=64 time={10 + n % 3}.{n % 10} ms"
        for n in range(40)
    ]


def web_server() -> list[str]:
    return [
        f'10.0.0.{n % 9} - - [01/Mar/2025:10:00:{n:02} +0000] "GET /page/{n} HTTP/1.1" 200 {n * 17}'
        for n in range(60)
    ]


def chat() -> list[str]:
    return [f"[10:{n:02}:12] <user{n % 3}> I have {n % 4} of {n} things to do" for n in range(50)]


def weather_table() -> list[str]:
    return ["date,station,temperature", *(f"2025-03-{n:02},7,{n % 9}.5" for n in range(1, 29))]


def downloads() -> list[str]:
    return [f"{n * 50:>6}K .......... .......... {n}% 1.{n % 9}M {60 - n}s" for n in range(60)]


def settings() -> list[str]:
    return [f"  layer_{n}_size ............... {n * 64}" for n in range(40)] + [
        "eval_interval: 100",
        "max_steps: 1000",
        "time_limit: 3600 s",
    ]


def report_of_tests() -> list[str]:
    return [f"tests/test_{n}.py::test_step_{n} PASSED [{n * 2}%] in 0.0{n % 9}s" for n in range(50)]


def traceback() -> list[str]:
    return [f'  File "/app/step_{n}.py", line {n * 10 + 3}, in step' for n in range(30)]


def device_monitor() -> list[str]:
    return [
        f"2025-03-01 10:00:{n:02} | GPU 0 | {40 + n % 3}C | {n * 3 % 100}% | {1000 + n} MiB"
        for n in range(60)
    ]


def saves_only() -> list[str]:
    return [f"2025-03-01 1{n}:00:00 Saving checkpoint at step {n}000" for n in range(9)]


def samples_of_an_evaluation() -> list[str]:
    return [
        f"2025-03-01 10:00:{n % 60:02},000 - INFO - Sample {n + 1}, validation acc: 0.9, mIoU: 0.3"
        for n in range(50)
    ]


def evaluations_of_saved_epochs() -> list[str]:
    return [
        f"2025-03-01 10:{n:02}:00,000 - INFO - Epoch: {n} Evaluation finished! mIoU: 0.3"
        for n in range(50)
    ]


def too_few_steps() -> list[str]:
    return [f"step {n} loss 2.{n} time 0.5{n}s" for n in range(4)]


def steps_that_do_not_rise() -> list[str]:
    order = [5, 3, 9, 1, 8, 2, 7, 4, 6, 0]
    return [f"step {n} loss 2.5 time 0.5{n}s" for n in order * 3]


def a_progress_bar_of_something_else() -> list[str]:
    return [f"unpacking: {n}%|##  | {n}/100 [00:{n:02}<00:10, 1.2file/s]" for n in range(50)]


def nothing() -> list[str]:
    return ["", "   ", "\t"]


TEXTS = [
    prose,
    numbered_instructions,
    source_code,
    pip_output,
    table_of_contents,
    build_with_times,
    container_build,
    echo_requests,
    web_server,
    chat,
    weather_table,
    downloads,
    settings,
    report_of_tests,
    traceback,
    device_monitor,
    saves_only,
    samples_of_an_evaluation,
    evaluations_of_saved_epochs,
    too_few_steps,
    steps_that_do_not_rise,
    a_progress_bar_of_something_else,
    nothing,
]


def numbered(lines: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(lines, 1))


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.__name__)
def test_a_text_without_training_is_refused(text: Callable[[], list[str]]) -> None:
    assert guess(numbered(text())) is None


def test_all_of_these_texts_together_are_refused() -> None:
    everything = [line for text in TEXTS[:17] for line in text()]
    assert guess(numbered(everything)) is None


def test_steps_among_all_of_these_texts_are_found() -> None:
    noise = [line for text in TEXTS[:17] for line in text()]
    steps = [f"step {n} loss 2.5 time {500 + n % 7}ms" for n in range(len(noise))]
    mixed = [line for pair in zip(noise, steps, strict=True) for line in pair]
    found = guess(numbered(mixed))
    assert found is not None
    assert LANGUAGES["en"].unknown_note_guessed(found.note.facts) == (
        "The format is a guess (step after `step`, milliseconds after `time`)."
    )
