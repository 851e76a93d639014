"""The rules, as pure functions: no grpc, no protobuf, no storage, no clock, no threads, no files."""
