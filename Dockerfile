FROM python:3.11.14-slim-bookworm AS base

FROM node:24.11.0-bookworm-slim AS page
WORKDIR /src
COPY web web
RUN npm ci --prefix web && npm run build --prefix web

FROM base AS build
WORKDIR /src
RUN python -m venv /opt/disco-rag
ENV PATH=/opt/disco-rag/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt ./
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY discorag discorag
COPY eval eval
COPY graphs graphs
COPY interfaces interfaces
COPY nodes nodes
COPY prompts prompts
COPY examples examples
COPY --from=page /src/interfaces/http/page interfaces/http/page
ARG EXTRAS=raptor,otel
RUN --mount=type=cache,target=/root/.cache/pip pip install -c constraints.txt ".[$EXTRAS]"

FROM base
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="disco-rag" \
      org.opencontainers.image.description="Discourse-aware retrieval-augmented generation" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 disco \
    && useradd --uid 10001 --gid disco --home-dir /data --no-create-home --shell /usr/sbin/nologin disco \
    && install --directory --owner=disco --group=disco --mode=0700 /data
COPY --from=build /opt/disco-rag /opt/disco-rag
# Everything that is written goes below /data (DISCO_RAG_HOME, and HOME for numba's cache) or /tmp.
ENV PATH=/opt/disco-rag/bin:$PATH \
    HOME=/data \
    DISCO_RAG_HOME=/data \
    DISCO_RAG_API__HOST=0.0.0.0 \
    HF_HUB_OFFLINE=1 \
    LANGSMITH_TRACING=false \
    OMP_WAIT_POLICY=passive \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /data
VOLUME ["/data"]
USER 10001:10001
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=3m --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=5)"]
ENTRYPOINT ["disco-rag"]
CMD ["serve"]
