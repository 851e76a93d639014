# The commands of this repository. What stands behind `##` says what a target is for; `make help` lists them all.
#
# Nothing is installed outside this folder: `.venv` holds what the commands need, `.venv-generate` the generator of the
# wire's code. Both are made when a command first needs them.

.DEFAULT_GOAL := help

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

BIN := .venv/bin
READY := .venv/ready-$(VERSION)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# What every environment is made with.
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
	"Ullage needs Python 3.11 or newer; '$(PYTHON)' is $(or $(VERSION),not there). Name another: make PYTHON=python3.11 ..." >&2; \
	exit 1; }

# The generator is old on purpose: its code runs on protobuf 6.31 to 7 and on grpcio from 1.76, so no caller is forced
# to upgrade. It lives in an environment of its own, because the server runs on newer versions. The protobuf named here
# is what the generator itself runs on; what the code needs is said by its first lines.
GRPCIO_TOOLS_VERSION := 1.76.0
MYPY_PROTOBUF_VERSION := 5.1.0
PROTOBUF_VERSION := 6.33.6

PROTOS := $(sort $(wildcard proto/ullage/v1/*.proto))
SERVICES := $(filter %_service.proto,$(PROTOS))
GENERATED := client/ullage/v1

GENERATOR := .venv-generate
GENERATOR_READY := $(GENERATOR)/ready-$(GRPCIO_TOOLS_VERSION)-$(MYPY_PROTOBUF_VERSION)-$(PROTOBUF_VERSION)
FRESH := $(GENERATOR)/fresh
PROTOC := $(GENERATOR)/bin/python -m grpc_tools.protoc --proto_path=proto \
	--plugin=$(GENERATOR)/bin/protoc-gen-mypy --plugin=$(GENERATOR)/bin/protoc-gen-mypy_grpc

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: $(READY) ## Run a server on 127.0.0.1:50151 with its data in ./data, until Ctrl-C
	@echo "On loopback TCP no token is asked: any user of this machine can call this server, other machines cannot."
	@exec $(BIN)/ullage serve --listen 127.0.0.1:50151 --data ./data

.PHONY: test
test: $(READY) ## Run all tests
	@$(BIN)/python -m pytest

.PHONY: check
check: check-style check-types check-layers check-protos check-generated check-wheel ## Run every check below

.PHONY: check-style
check-style: $(READY) ## Check lint and format of the Python code (ruff)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@echo "style: as it should be"

.PHONY: check-types
check-types: $(READY) ## Check the types of client and server (mypy --strict)
	@$(BIN)/mypy

.PHONY: check-layers
check-layers: $(READY) ## Check that core knows nothing of the machine, and the client nothing of the server
	@$(BIN)/lint-imports --no-logo

# What is compared with: the last release, or before the first one the first commit that has protos.
.PHONY: check-protos
check-protos: $(READY) ## Check lint, format and compatibility of the protos (buf)
	@$(BIN)/buf lint
	@$(BIN)/buf format --diff --exit-code
	@base=$$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || git rev-list --reverse HEAD -- proto | sed -n 1p) && \
		git archive --format=tar "$$base" buf.yaml proto | $(BIN)/buf breaking --against '-#format=tar' && \
		echo "protos: as they should be, and compatible with $$base"

.PHONY: check-generated
check-generated: fresh ## Check that the committed generated code is what proto/ gives
	@diff -rq --exclude='__*' $(FRESH)/ullage/v1 $(GENERATED) || \
		{ echo "$(GENERATED) is not what proto/ gives: run 'make generate' and commit the result." >&2; exit 1; }
	@echo "generated code: as proto/ gives it"

.PHONY: check-wheel
check-wheel: $(READY) ## Check what the built distribution holds, and that the README is true
	@$(BIN)/python -m pytest -qq tests/packaging

.PHONY: generate
generate: fresh ## Generate the Python code of the wire from proto/
	@rm -f $(GENERATED)/*_pb2*
	@cp $(FRESH)/ullage/v1/* $(GENERATED)/

.PHONY: fuzz
fuzz: $(READY) ## Run the property tests for long: 5000 examples each
	@$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=long --timeout=0

.PHONY: bench
bench: $(READY) ## Measure calls and streams beside ones that do nothing (minutes, on a quiet machine)
	@$(BIN)/python -m tests.bench.observe
	@$(BIN)/python -m tests.bench.prepare
	@$(BIN)/python -m tests.bench.converse
	@$(BIN)/python -m tests.bench.exchange

.PHONY: bench-tokens
bench-tokens: $(READY) ## Count what the insertions cost in tokens (needs Node)
	@$(BIN)/python -m tests.bench.tokens

.PHONY: clean
clean: ## Remove environments, caches and build results; ./data is kept
	@rm -rf .venv .venv-generate build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find client server tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment of all commands. An environment of another Python, or of one that is gone, is made anew.
$(READY): pyproject.toml
	@$(CHECK_PYTHON)
	@echo "Setting up .venv with Python $(VERSION); this takes about a minute, once."
	@test -x $(BIN)/python$(VERSION) || rm -rf .venv
	@$(PYTHON) -m venv .venv
	@$(BIN)/python $(PIP_INSTALL) --upgrade 'pip>=25.1'
	@$(BIN)/python $(PIP_INSTALL) --group dev -e '.[charts,postgres]'
	@touch $@

# The code as the protos give it now, in a folder that is thrown away.
.PHONY: fresh
fresh: $(GENERATOR_READY)
	@rm -rf $(FRESH) && mkdir $(FRESH)
	@$(PROTOC) --python_out=$(FRESH) --mypy_out=quiet:$(FRESH) $(PROTOS)
	@$(PROTOC) --grpc_python_out=$(FRESH) --mypy_grpc_out=quiet:$(FRESH) $(SERVICES)

$(GENERATOR_READY):
	@$(CHECK_PYTHON)
	@echo "Setting up $(GENERATOR) for the generator of the wire's code."
	@$(PYTHON) -m venv --clear $(GENERATOR)
	@$(GENERATOR)/bin/python $(PIP_INSTALL) \
		grpcio-tools==$(GRPCIO_TOOLS_VERSION) mypy-protobuf==$(MYPY_PROTOBUF_VERSION) protobuf==$(PROTOBUF_VERSION)
	@touch $@
