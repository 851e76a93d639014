"""The wire's messages to core's values and back. It decides nothing: the rules are core's."""
