#!/usr/bin/env bash
# The first step of action.yml: puts gh-mergexo on PATH. It downloads a release,
# and uses it only if an attestation proves that our release workflow built it from the tag of that
# version: an older release under its name would be an attested one, too. Otherwise it
# builds the source of the action at the used ref.
set -euo pipefail

bin=$RUNNER_TEMP/gh-mergexo-bin
repo=${GITHUB_ACTION_REPOSITORY:-mergexo/gh-mergexo}
version=${VERSION:-}
if [[ -z $version && ${GITHUB_ACTION_REF:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
	version=$GITHUB_ACTION_REF
fi

case $RUNNER_OS in
Linux) os=linux exe= ;;
macOS) os=darwin exe= ;;
*)
	echo "::error::gh mergexo's action runs on Linux and macOS, not on $RUNNER_OS"
	exit 1
	;;
esac
case $RUNNER_ARCH in
X64) arch=amd64 ;;
ARM64) arch=arm64 ;;
*)
	echo "::error::there is no release for $RUNNER_ARCH"
	exit 1
	;;
esac

mkdir -p "$bin"
if [[ -n $version ]]; then
	if [[ ! $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
		echo "::error::version is no release such as v1.2.3"
		exit 1
	fi
	from=$(mktemp -d "$RUNNER_TEMP/gh-mergexo-release.XXXXXX")
	gh release download "$version" --repo "$repo" --pattern "*$os-$arch$exe" --dir "$from"
	files=("$from"/*)
	if [[ ${#files[@]} != 1 ]]; then
		echo "::error::$repo $version has ${#files[@]} files for $os-$arch, not 1"
		exit 1
	fi
	gh attestation verify "${files[0]}" --repo "$repo" --signer-workflow "$repo/.github/workflows/release.yml" --source-ref "refs/tags/$version" --deny-self-hosted-runners
	install -m 0755 "${files[0]}" "$bin/gh-mergexo"
else
	cd "$GITHUB_ACTION_PATH"
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-X main.version=${GITHUB_ACTION_REF:-source}" -o "$bin/gh-mergexo" ./cmd/gh-mergexo
fi
echo "$bin" >>"$GITHUB_PATH"
"$bin/gh-mergexo" version
