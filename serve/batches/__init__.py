"""OpenAI's Batches API over this server's own endpoints: requests in, replies out, as files.

| module   | what it does                                                                   |
|----------|--------------------------------------------------------------------------------|
| `routes` | the HTTP side, and the runner's life beside the application's                    |
| `lines`  | reads and checks the input file, whole, before anything is asked                 |
| `store`  | what is on disk: the batch, its input, the replies so far, a lock, a cancel mark |
| `runner` | asks line by line, with bounded concurrency; goes on where a killed server stood |
| `inside` | one request to the application itself, without a socket or a key                 |
"""

from .routes import router

__all__ = ["router"]
