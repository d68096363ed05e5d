"""OpenAI's Files API, as far as batches need it: upload, list, look up, read, delete.

| module   | what it does                                                   |
|----------|----------------------------------------------------------------|
| `routes` | the HTTP side                                                  |
| `form`   | the upload, never more of it than the settings allow           |
| `store`  | what is on disk: an owner's files, written whole or not at all |
"""

from .routes import OWNER, router

__all__ = ["OWNER", "router"]
