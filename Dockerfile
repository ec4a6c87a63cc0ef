# One pass of gh mergexo in a container. What repeats it is outside: see docs/deploy.md.
# The agents are not in it; docs/deploy.md shows how to add yours.
ARG GO_IMAGE=docker.io/library/golang:1.26.7-trixie@sha256:e6e8ff4b72b128bb673613645c5ac415e4f537b2390e77a86ffc40622ab56da8
ARG DEBIAN_IMAGE=docker.io/library/debian:trixie-slim@sha256:d7e12182ce18b85b93007c1dedf31f2d29e01ccf3182cc4017c709b6259bc132
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags="-s -w -X main.version=${VERSION}" -o /out/gh-mergexo ./cmd/gh-mergexo

FROM ${DEBIAN_IMAGE}
# bubblewrap keeps agents away from everything but their checkout, where the container lets it.
RUN apt-get update \
	&& apt-get install -y --no-install-recommends bubblewrap ca-certificates curl gh git jq openssh-client \
	&& rm -rf /var/lib/apt/lists/*
# The state is a volume; gh finds the program as its extension, so that "gh mergexo …", as
# the messages have it, works in here, too.
RUN useradd --uid 10001 --create-home --shell /bin/sh mergexo \
	&& data=/home/mergexo/.local/share && ext=$data/gh/extensions/gh-mergexo \
	&& install -d -o mergexo -g mergexo -m 0755 /home/mergexo/.local $data $data/gh $data/gh/extensions $ext \
	&& install -d -o mergexo -g mergexo -m 0700 $data/mergexo \
	&& ln -s /usr/local/bin/gh-mergexo $ext/gh-mergexo \
	&& install -d -m 0755 /config
COPY --from=build /out/gh-mergexo /usr/local/bin/gh-mergexo
USER mergexo
WORKDIR /home/mergexo
ENV MERGEXO_CONFIG=/config/config.toml
VOLUME /home/mergexo/.local/share/mergexo
ENTRYPOINT ["gh-mergexo"]
CMD ["--help"]
