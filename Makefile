# The commands of this repository. What stands behind `##` says what a target is for.

PYTHON ?= python3

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

.PHONY: generate
generate: fresh ## Generate the Python code of the wire from proto/
	rm -f $(GENERATED)/*_pb2*
	cp $(FRESH)/ullage/v1/* $(GENERATED)/

.PHONY: check-generated
check-generated: fresh ## Fail where the committed generated code is not what proto/ gives
	@diff -r --exclude='__*' $(FRESH)/ullage/v1 $(GENERATED) || \
		{ echo "$(GENERATED) is not what proto/ gives: run 'make generate' and commit the result." >&2; exit 1; }

# The code as the protos give it now, in a folder that is thrown away.
.PHONY: fresh
fresh: $(GENERATOR_READY)
	@rm -rf $(FRESH) && mkdir $(FRESH)
	$(PROTOC) --python_out=$(FRESH) --mypy_out=quiet:$(FRESH) $(PROTOS)
	$(PROTOC) --grpc_python_out=$(FRESH) --mypy_grpc_out=quiet:$(FRESH) $(SERVICES)

$(GENERATOR_READY):
	$(PYTHON) -m venv --clear $(GENERATOR)
	$(GENERATOR)/bin/python -m pip install --quiet --disable-pip-version-check \
		grpcio-tools==$(GRPCIO_TOOLS_VERSION) mypy-protobuf==$(MYPY_PROTOBUF_VERSION) protobuf==$(PROTOBUF_VERSION)
	@touch $@
