# `make demo` and `make test` need Python 3.11 or newer and a package index, and nothing else; see README.md.

# Interpreters to try, in this order; to choose one: make demo PYTHON=python3.12
PYTHON ?= python3 python3.13 python3.12 python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt
# A path that type checkers and editors find, too; the default of setuptools is an import hook, which they do not run.
PIP_EDITABLE := $(PIP_INSTALL) --config-settings editable_mode=compat --editable

.DEFAULT_GOAL := help
.PHONY: help demo test lint types docs docs-figures check-data have-data mini ensemble bench supply-chain clean

help:
	@echo "make demo         set up $(VENV) and highlight the errors of the example translations"
	@echo "make test         set up $(VENV) for development, then lint, types and all tests"
	@echo "make docs         set up $(VENV) for the documentation and build it in site/"
	@echo "make docs-figures run the example notebook and take the pictures of the documentation; needs chromium"
	@echo "make check-data   compare the prepared data with published figures; needs MATESE_DATA"
	@echo "make mini         train the embedded model (hours; run again to resume); needs MATESE_DATA"
	@echo "make ensemble     train five models on five splits and evaluate their median (days without a GPU); needs MATESE_DATA"
	@echo "make bench        measure speed and memory beside COMET (hours; BENCH=--quick: minutes)"
	@echo "make supply-chain list licences, components (SBOM) and hashes in build/; look for known vulnerabilities; needs a network"
	@echo "make clean        remove $(VENV) and the caches of the tools"

demo: $(VENV)/.installed
	$(BIN)/matese tag --ref examples/ref.txt --hyp examples/mt.txt

test: lint types
	$(BIN)/pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean

# Notebook and pictures show the output of the embedded model: run again after it changes.
docs-figures: $(VENV)/.installed-dev $(VENV)/.installed-docs
	$(BIN)/python -m docs.terminal_picture
	$(BIN)/python -m docs.notebook
	$(BIN)/python -m docs.screenshots
	$(BIN)/python -m docs.first_evaluation

check-data: have-data $(VENV)/.installed
	$(BIN)/python -m data_prep check

# The embedded model: data, one training, a smaller vocabulary with matrices in 8 bits, and calibration. A stopped training
# is resumed; to run a step again, remove its output. ENCODER is a hub id, or a directory where the hub cannot be reached.
# With a GPU: make mini TRAIN="--set training.batch_tokens=65536 --set training.accumulate=1"
PREPARED := data/prepared
ENCODER := intfloat/multilingual-e5-small
TRAIN :=
MINI := runs/mini/calibrated
mini: have-data $(MINI)/config.json
	@echo "$(MINI): the model; to measure it: python -m benchmarks.quality --model $(MINI) --data data/prepared/dev.jsonl"

CONTRASTS := $(addprefix $(PREPARED)/,short-dev.jsonl written-dev.jsonl)
# A sixth of the validation data and of the ESA ratings is enough.
$(MINI)/config.json: runs/mini/small/config.json $(PREPARED)/esa-dev.jsonl $(CONTRASTS)
	$(BIN)/matese calibrate $(<D) $(PREPARED)/dev.jsonl --error-free $(PREPARED)/esa-dev.jsonl \
	    --contrasts $(CONTRASTS) --every 6 --output $(MINI)

runs/mini/small/config.json: runs/mini/result.json
	$(BIN)/matese shrink $(<D)/model --pieces 64000 --data $(PREPARED)/human.jsonl --int8 --output $(@D)

# All that the configuration reads; the file of dev comes with train.jsonl.
runs/mini/result.json: $(filter-out %-dev.jsonl,$(shell grep -o '$(PREPARED)/[^],} ]*' configs/mini.yaml)) | runs
	$(BIN)/matese train $(if $(wildcard runs/mini/last.ckpt),--resume runs/mini,\
	    --config configs/mini.yaml --set encoder=$(ENCODER) $(TRAIN))

# The ensemble of Perrella et al. 2022, section 3.2: one model for each of five splits, and the median of the
# scores of their spans. The models need one vocabulary, so ENSEMBLE must be a configuration with a pretrained encoder.
ENSEMBLE := xlmr-large
SPLITS := data/splits
MODELS := $(foreach number,1 2 3 4 5,runs/$(ENSEMBLE)-$(number))
empty :=
comma := ,
ensemble: have-data $(addsuffix /result.json,$(MODELS))
	$(BIN)/matese tag --input $(SPLITS)/wmt22-test.jsonl --format jsonl --output runs/$(ENSEMBLE)-median.jsonl \
	    --uncertainty span-models:$(subst $(empty) $(empty),$(comma),$(addsuffix /model,$(MODELS)))
	$(BIN)/matese evaluate $(SPLITS)/wmt22-test.jsonl runs/$(ENSEMBLE)-median.jsonl

runs/$(ENSEMBLE)-%/result.json: $(SPLITS)/report.json | runs
	$(BIN)/matese train $(if $(wildcard runs/$(ENSEMBLE)-$*/last.ckpt),--resume runs/$(ENSEMBLE)-$*,\
	    --config configs/matese/$(ENSEMBLE).yaml --train $(SPLITS)/split-$*/train.jsonl --dev $(SPLITS)/split-$*/dev.jsonl \
	    --output runs/$(ENSEMBLE)-$*)

# The report is written last.
$(SPLITS)/report.json: | $(VENV)/.installed-dev
	$(BIN)/python -m data_prep prepare --splits 5 --output $(SPLITS)

# Prints the tables of docs/operation.md. Uses real segments if the raw ratings are there, otherwise generated ones or the
# examples. BENCH holds further options of the comparison with COMET.
BENCH_DATA = $(if $(MATESE_DATA),--data $(PREPARED)/dev.jsonl)
bench: $(VENV)/.installed-dev $(if $(MATESE_DATA),$(PREPARED)/train.jsonl)
	$(BIN)/python -m benchmarks.bench $(BENCH_DATA) --json runs/bench.json $(BENCH)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.engines $(BENCH_DATA)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.engines --host --segments 100 --runs 9
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.engines --parts $(BENCH_DATA)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.engines --eight-bits $(BENCH_DATA)
	$(if $(BENCH_DATA),OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.training_host $(BENCH_DATA))
	$(BIN)/python -m benchmarks.many_rows

$(PREPARED)/train.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep prepare --output $(PREPARED)

# Commands that write two files: the second one has an empty recipe.
$(PREPARED)/bio.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep labels --output $(PREPARED)

$(PREPARED)/esa.jsonl $(PREPARED)/esa-dev.jsonl: $(PREPARED)/bio.jsonl ;

$(PREPARED)/human.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep translations --most 2 --output $@

RATED := $(addprefix $(PREPARED)/,train.jsonl bio.jsonl esa.jsonl)
$(PREPARED)/rewordings.jsonl: $(PREPARED)/train.jsonl $(PREPARED)/bio.jsonl $(PREPARED)/human.jsonl
	$(BIN)/python -m data_prep rewordings $(RATED) $(PREPARED)/human.jsonl --output $@

$(PREPARED)/foreign.jsonl: $(PREPARED)/human.jsonl
	$(BIN)/python -m data_prep foreign $^ --output $@

OMITTED := $(addprefix $(PREPARED)/,train.jsonl bio.jsonl human.jsonl)
$(PREPARED)/omissions.jsonl: $(OMITTED)
	$(BIN)/python -m data_prep omissions $(OMITTED) --encoder $(ENCODER) --share 0.1 --output $@

$(PREPARED)/unrated.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep unrated --output $@

$(PREPARED)/contrasts.jsonl: $(wildcard data_prep/contrasts/*.tsv) | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep contrasts --paragraphs 3000 --kept $(PREPARED)/short-dev.jsonl --output $@

$(PREPARED)/short-dev.jsonl: $(PREPARED)/contrasts.jsonl ;

$(PREPARED)/gemba.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep judgments --output $(PREPARED)

$(PREPARED)/remedy.jsonl: $(PREPARED)/gemba.jsonl ;

$(PREPARED)/written.jsonl: data_prep/contrasts/written.json.xz | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep short-texts --output $(PREPARED)

$(PREPARED)/written-dev.jsonl $(PREPARED)/pairs.jsonl $(PREPARED)/short.jsonl: $(PREPARED)/written.jsonl ;

$(PREPARED)/injected.jsonl: $(addprefix $(PREPARED)/,remedy.jsonl written.jsonl short.jsonl)
	$(BIN)/python -m data_prep injected $^ --output $(PREPARED)

$(PREPARED)/cheats.jsonl $(PREPARED)/varied.jsonl: $(PREPARED)/injected.jsonl ;

$(PREPARED)/wmt25-metrics.jsonl: | $(VENV)/.installed-dev $(PREPARED)
	$(BIN)/python -m data_prep segment-scores --output $(PREPARED)

$(PREPARED)/mlqe-pe.jsonl: $(PREPARED)/wmt25-metrics.jsonl ;

$(PREPARED) runs:
	mkdir -p $@

# A target of its own, so that the error comes before any installation.
have-data:
	@test -n "$$MATESE_DATA" || { \
	    echo "MATESE_DATA is not set: must be the directory with the raw ratings; docs/research/training.md says how to get them" >&2; \
	    exit 1; \
	}

# The pinned versions, as they are installed for development. To install nothing but files of known hashes:
#     pip install --require-hashes --requirement build/hashes.txt && pip install --no-deps --editable .
supply-chain: $(VENV)/.installed-dev
	$(BIN)/python -m venv .venv-supply-chain
	.venv-supply-chain/bin/python -m pip install --quiet cyclonedx-bom pip-audit pip-licenses uv
	mkdir -p build
	.venv-supply-chain/bin/pip-licenses --python $(BIN)/python --format markdown --order license > build/licences.md
	.venv-supply-chain/bin/cyclonedx-py environment $(BIN)/python --output-file build/sbom.json
	.venv-supply-chain/bin/uv pip compile --quiet --generate-hashes --no-annotate --all-extras \
	    --constraint constraints.txt --output-file build/hashes.txt pyproject.toml
	.venv-supply-chain/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt

clean:
	rm -rf $(VENV) .venv-comet .venv-supply-chain build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: the package is installed again only if its requirements have changed. The installation is editable, so that
# changes of the code need no installation.
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_EDITABLE) .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP_EDITABLE) ".[dev]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP_EDITABLE) ".[docs]"
	@touch $@

# An incomplete environment is removed, because the next run would take it for a complete one.
$(BIN)/python:
	@for python in $(PYTHON); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "$$python -m venv $(VENV)"; \
	        "$$python" -m venv --clear $(VENV) && exit 0; \
	        rm -rf $(VENV); \
	        exit 1; \
	    fi; \
	done; \
	echo "None of $(PYTHON) is Python 3.11 or newer, which matese needs." \
	    "Install one, or name it: make demo PYTHON=python3.12" >&2; \
	exit 1
