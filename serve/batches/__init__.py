"""OpenAI's Batches API over this server's own endpoints: requests in, replies out, as files.

| module   | what it does                                                                   |
|----------|--------------------------------------------------------------------------------|
| `routes` | the HTTP routes, which start and stop the runner with the application            |
| `lines`  | reads and checks the whole input file before the first request                   |
| `store`  | the files of a batch: its state, input, replies, a lock, a cancel mark           |
| `runner` | sends the requests, with bounded concurrency; resumes after a killed server      |
| `inside` | one request to the application itself, without a socket or a key                 |
"""

from .routes import router

__all__ = ["router"]
