# A service that marks errors: see docs/in-a-service.md. Build it in a clone: docker build --tag matese .
FROM python:3.13-slim

# The CPU build of PyTorch, in a layer of its own: the builds for GPUs take several gigabytes more.
# All versions are those of constraints.txt, with which the tests run.
COPY constraints.txt /constraints.txt
# What PyTorch depends on comes with the package, from the usual index, which has all pinned versions.
RUN pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu \
    --constraint /constraints.txt torch

COPY . /source
RUN pip install --no-cache-dir --constraint /constraints.txt "/source[serve]" \
    && rm -r /source \
    && useradd --create-home --uid 10001 matese

USER 10001
# mini is in the package: nothing is fetched. For a model of the hub, convert it to a directory first and mount that.
ENV HF_HUB_OFFLINE=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["matese", "serve", "--host", "0.0.0.0", "--port", "8000"]
