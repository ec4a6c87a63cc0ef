#!/usr/bin/env bash
# Builds the release for cli/gh-extension-precompile: script/build.sh TAG [OS-ARCH…]
# builds dist/OS-ARCH for every platform, or for the named ones. cgo is off, so each builds on any machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=${1:?usage: script/build.sh TAG [OS-ARCH…]}

platforms=(
	darwin-amd64 darwin-arm64
	linux-amd64 linux-arm64
)
if (($# > 1)); then
	platforms=("${@:2}")
fi
mkdir -p dist
for platform in "${platforms[@]}"; do
	os=${platform%-*} arch=${platform#*-}
	echo "build $platform"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags="-s -w -X main.version=$tag" \
		-o "dist/$platform" ./cmd/gh-mergexo
done
# Files that are not programs: gh does not install them.
tar -czf dist/gh-mergexo-man.tar.gz share/man
(cd dist && sha256sum -- * >checksums.txt)
