# The server on a CPU: the rules, and a model behind a URL, without torch.
#   docker build -t gradegpt . && docker run --rm -p 127.0.0.1:8000:8000 gradegpt
#   docker run --rm -i gradegpt judge --judge rules - < answers.jsonl
FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist . && cp constraints.txt /dist

FROM python:3.11-slim
RUN --mount=type=bind,from=build,source=/dist,target=/dist \
    pip install --no-cache-dir -c /dist/constraints.txt "$(ls /dist/*.whl)[openai,serve,tables]"
# For --judge code, which runs programs in a sandbox: docker run --security-opt seccomp=unconfined ...
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
RUN useradd --system gradegpt
USER gradegpt
EXPOSE 8000
HEALTHCHECK --start-period=60s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=5)"]
ENTRYPOINT ["gradegpt"]
CMD ["serve", "cascade", "host=0.0.0.0"]
