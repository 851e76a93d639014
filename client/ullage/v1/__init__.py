"""The wire of Ullage, package `ullage.v1`: generated from `proto/ullage/v1` by `make generate`."""
