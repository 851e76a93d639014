"""The wire: one file a service, the errors, the interceptors. A handler converts, calls core, and answers."""
