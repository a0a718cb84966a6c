# `make` alone lists what there is to do. Everything lives in .venv; the first call builds it.

PYTHON ?=
# What pip installs for the demo: any torch from 2.7 on will do.
TORCH ?= torch==2.13.0
SIZE ?= 100MB
PARAMS ?= 90000000
MINUTES ?= 10
INPUTS ?= 10000
PACKS ?= 1000000
KILLS ?= 1000
# Passed on to the benchmark: ARGS="--dialect nanogpt --record"
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
OUT := demo-out
KERNEL := src/instride/snapshot/gather

# The stamps are in the environment, so that deleting it is enough to start over.
PACKAGE := $(VENV)/.package-installed
TOOLS := $(VENV)/.tools-installed
TORCHED := $(VENV)/.torch-installed
RIVALS := $(VENV)/.rivals-installed
BROWSER := $(VENV)/.browser-found

.DEFAULT_GOAL := help
.PHONY: help demo test gpu lint bench soak kernels clean
# A recipe that failed half-way must not look done to the next call.
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{printf "%-8s %s\n", $$1, $$2}'
	@echo
	@echo "PYTHON=python3.12 picks the Python for .venv; TORCH='torch==2.9.*' what pip installs for the demo"

demo: $(PACKAGE) $(TORCHED) ## train a tiny GPT twice, saving and compressing as people do and with instride, and explain both
	@rm -rf $(OUT) && mkdir -p $(OUT)
	@echo "training a tiny GPT, with a program that compresses its checkpoints (half a minute)"
	@$(BIN)/python examples/train_tiny_gpt.py --compressor naive --progress --out $(OUT)/naive > $(OUT)/train.log
	@echo "the log is $(OUT)/train.log; now: instride explain $(OUT)/train.log"
	@echo
	@$(BIN)/instride explain $(OUT)/train.log
	@echo
	@echo "the same training again: instride.Saver saves, and makes packs of what it saved"
	@$(BIN)/python examples/train_tiny_gpt.py --saver instride --pack --progress --out $(OUT)/instride > $(OUT)/instride.log
	@echo "now: instride compare $(OUT)/train.log $(OUT)/instride.log"
	@echo
	@$(BIN)/instride compare $(OUT)/train.log $(OUT)/instride.log

# Slow tests lie side by side: dealt out in halves, one core would idle while the other ends them.
test: lint $(TORCHED) $(BROWSER) ## lint, then all tests
	@$(BIN)/pytest -q -n 2 --dist worksteal

# CI has no GPU. What fills its memory, or looks at all of it, comes last and by itself.
gpu: $(TOOLS) $(TORCHED) ## the tests that need a GPU, where there is one: make gpu TORCH=torch
	@$(BIN)/pytest -q -n auto -m "not alone" tests/gpu
	@$(BIN)/pytest -q -m alone tests/gpu

lint: $(TOOLS) ## style, types and layers
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > $(VENV)/layers.txt || { cat $(VENV)/layers.txt; exit 1; }
	@echo "style, types and layers are good"

bench: $(PACKAGE) $(TORCHED) $(RIVALS) ## ways of saving; how fast explain reads, SIZE=100MB of each dialect (SIZE=1GB is the bar)
	@$(BIN)/instride bench save --params $(PARAMS)
	@$(BIN)/python -m bench.explain --size $(SIZE) $(ARGS)

soak: $(TOOLS) $(TORCHED) ## MINUTES=10 of rounds: all tests, INPUTS=10000 odd logs, PACKS=1000000 odd packs, KILLS=1000 crashes, with other seeds
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); seed=$$(date +%s); rounds=0; \
	while [ $$rounds -eq 0 ] || [ $$(date +%s) -lt $$end ]; do \
	    $(BIN)/pytest -q -n 2 --dist worksteal --hypothesis-seed=$$seed || { echo "failed with seed $$seed"; exit 1; }; \
	    $(BIN)/python tests/soak/fuzz_explain.py --inputs $(INPUTS) --first $$(( seed * $(INPUTS) )) || exit 1; \
	    $(BIN)/python -m tests.soak.fuzz_pack --inputs $(PACKS) --first $$(( seed * $(PACKS) )) || exit 1; \
	    $(BIN)/python -m tests.soak.kill_saver --kills $(KILLS) --seed $$seed || exit 1; \
	    $(BIN)/python -m tests.soak.kill_agent --kills 100 --seed $$seed || exit 1; \
	    $(BIN)/python tests/soak/many_saves.py || exit 1; \
	    $(BIN)/python -m tests.soak.hammer_saver --seed $$seed || exit 1; \
	    seed=$$(( seed + 1 )); rounds=$$(( rounds + 1 )); \
	done; \
	echo "$$rounds round(s), all good"

# In the oldest version that has the device, so that drivers of before take it too.
kernels: ## gather.ptx, what runs on a GPU, from its source; needs nvcc
	@{ echo "// From gather.cu: $$(sha256sum < $(KERNEL).cu | cut -d' ' -f1)"; \
	    nvcc -ptx -O3 -arch=compute_75 -o /dev/stdout $(KERNEL).cu | sed -e '/^\/\//d' -e 's/^\.version .*/.version 6.4/'; } > $(KERNEL).ptx

clean: ## delete .venv, caches and what the demo wrote
	@rm -rf $(VENV) $(OUT) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Dependency groups need pip 25.1 or newer; a new environment may come with an older one.
$(PACKAGE): pyproject.toml
	@python=; for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11); do \
	    if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "instride needs Python 3.11 or newer; found: $$($(or $(PYTHON),python3) --version 2>&1 | head -1)"; \
	    echo "hint: name one that is installed: make PYTHON=/path/to/python3.12"; exit 1; \
	fi; \
	echo "setting up $(VENV) with $$($$python --version)"; \
	$$python -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install --editable .
	@touch $@

$(TOOLS): $(PACKAGE)
	@echo "installing the tools for tests and style"
	@$(PIP) install --group dev
	@touch $@

# Without numpy, torch warns at every start.
$(TORCHED): $(PACKAGE)
	@echo "installing $(TORCH), for the demo and its test"
	@$(PIP) install $(TORCH) numpy
	@touch $@

# Other ways of saving: one that cannot be installed here is left out, and named.
$(RIVALS): $(TORCHED)
	@echo "installing other ways of saving, to measure them"
	@$(PIP) install --group bench || echo "not all could be installed: the benchmark will name them"
	@touch $@

# Debian's Chromium, where there is none and we may; elsewhere the tests of the report are skipped.
$(BROWSER):
	@has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }; \
	if ! has_browser > /dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo "installing Chromium, for the tests of the report"; \
	    apt-get -qq update && apt-get -qq -y install --no-install-recommends chromium > /dev/null; \
	fi; \
	if has_browser > $(VENV)/browser.txt; then touch $@; \
	else echo "no Chromium: the tests of the report will be skipped"; fi
