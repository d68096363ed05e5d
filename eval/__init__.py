"""The eval stage: how well judges agree with people and with each other: ``gradegpt eval``."""
