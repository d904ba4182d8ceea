# Everything from nothing: each target makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LINT_STAMP := $(VENV)/.lint
BOTH_WAYS := tests/operators tests/gluon tests/symbol tests/training tests/graph tests/kernels

.PHONY: demo test test-long test-torch test-bare test-gpu lint bench docs faults soak release-check clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt "torch==2.13.0"

$(STAMP): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

$(LINT_STAMP): $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[lint]"
	touch $@

demo: $(STAMP)
	$(BIN)/python -m mxnet.tools.demo --output demo

test: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal -m "not minutes" --ignore tests/typing tests

# Jobs whose workers come and go, and slow links between hosts
test-long: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m minutes tests

# With torch's own operators only, and without numba: the same results, but for what tests the kernels themselves.
test-torch: $(STAMP)
	MXNET_KERNELS=torch OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(BOTH_WAYS)

test-bare: $(STAMP)
	REMX_TEST_WITHOUT=numba OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/operators tests/graph tests/kernels

# On simulated GPUs: all of tests/gpu, then the suite with gpu(0) as the default context.
test-gpu: $(STAMP)
	REMX_ON_SIMULATED_GPU=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/gpu/checks
	PYTHONPATH=tests/gpu OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p whole_suite $(addprefix tests/,\
	    ndarray autograd gluon symbol training numpy seeds data_layer)

lint: $(LINT_STAMP)
	$(BIN)/ruff check src packages tests tools benchmarks examples
	$(BIN)/ruff format --check src packages tests tools benchmarks examples
	$(BIN)/lint-imports
	cd packages/remx-horovod && PYTHONPATH=src ../../$(BIN)/lint-imports
	$(BIN)/pyright
	$(BIN)/python -m pytest tests/typing

# All of it, or one row: make bench ONLY="ResNet-18 train"
bench: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[bench]"
ifdef ONLY
	$(BIN)/python benchmarks/suite.py --merge --only "$(ONLY)"
else
	$(BIN)/python benchmarks/suite.py --compile --memory
	$(BIN)/python benchmarks/growth.py
endif

docs: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[docs]"
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/run_tutorials.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file mkdocs.zh.yml --site-dir site/zh

faults: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python tools/faults.py

# Trains, saves, loads, resumes, serves and is killed at random: make soak MINUTES=10
MINUTES ?= 10
soak: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python tools/faults.py soak --minutes $(MINUTES)

release-check: $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt build
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) build dist demo site docs/outputs docs/reference docs/zh/reference src/*.egg-info
