# syntax=docker/dockerfile:1

# The binary as it is shipped: profile `dist`, linked against the glibc of the image it will run in.
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --locked --profile dist --package server \
    && install -D target/dist/forecourt /out/forecourt

FROM debian:bookworm-slim
# For DATABASE_URL with TLS: the authorities that a managed PostgreSQL's certificate is checked against.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin forecourt \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/forecourt
COPY --from=build /out/forecourt /usr/local/bin/forecourt

USER 10001:10001
# The master key of stored credentials and dropped files; a volume, or both are gone with the container.
WORKDIR /var/lib/forecourt
VOLUME /var/lib/forecourt
# All of the container's addresses; which of them the world can reach is decided where it is run. What stands on
# the cards is FORECOURT_PUBLIC_ORIGIN, to be given there as well.
ENV FORECOURT_LISTEN=0.0.0.0:8080 \
    FORECOURT_DATA_DIR=/var/lib/forecourt \
    FORECOURT_LOG_FORMAT=json
EXPOSE 8080

# Alive, not ready: an orchestrator that can tell the two apart should ask /readyz before sending requests.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]

# No PostgreSQL server is in this image: DATABASE_URL has to name one. `serve` expects it to be migrated, `up`
# migrates it first.
ENTRYPOINT ["forecourt"]
CMD ["serve"]
