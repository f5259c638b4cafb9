#!/usr/bin/env bash
# Builds the image twice from the Dockerfile, from two copies of the sources
# with other times and modes, in other folders, and has the results looked at.
# FRESH=1 compiles the second one anew, with an empty build cache. It needs root
# on Debian, and bin/ as 'make build' leaves it.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${VERSION:=v0.1.0}" "${FRESH:=}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/backupjob-operator/image

missing=()
command -v buildah >/dev/null || missing+=(buildah)
command -v busybox >/dev/null || missing+=(busybox-static)
if [ ${#missing[@]} -gt 0 ]; then
	echo "Installing with apt: ${missing[*]}"
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}" >/dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$cache"
# A store of our own: nothing outside the cache folder changes. The builder's
# processes run in a changed root, which needs no container runtime.
cat >"$scratch/storage.conf" <<-TEXT
	[storage]
	driver = "overlay"
	graphroot = "$cache/store"
	runroot = "$scratch/run"
TEXT
export CONTAINERS_STORAGE_CONF=$scratch/storage.conf BUILDAH_ISOLATION=chroot
buildah rm --all >/dev/null # what a killed run left
bash test/image/builder.sh

modules=$(go env GOMODCACHE)
build() { # folder, archive, Go's build cache
	(cd "$1" && BUILDER=buildah IMAGE=localhost/verify:$(basename "$1") VERSION=$VERSION SOURCE_DATE_EPOCH=$epoch ARCHIVE=$2 \
		bash hack/image.sh --quiet --no-cache --pull-never --volume "$modules:/go/pkg/mod" --volume "$3:/go/build-cache")
}
epoch=$(git log -1 --format=%ct)
for copy in one other; do
	mkdir -p "$scratch/$copy"
	git ls-files -co --exclude-standard -z | tar --null --files-from=- --create | tar --extract --no-same-permissions --directory "$scratch/$copy"
done
find "$scratch/other" -exec touch -d 2001-01-01 {} +
chmod -R go-rwx "$scratch/other"

second=$(go env GOCACHE)
if [ -n "$FRESH" ]; then
	second=$scratch/go-build
	mkdir "$second"
fi
build "$scratch/one" "$scratch/one.tar" "$(go env GOCACHE)" >/dev/null
(umask 077 && build "$scratch/other" "$scratch/other.tar" "$second" >/dev/null)
buildah rmi localhost/verify:one localhost/verify:other >/dev/null

IMAGE_ONE=$scratch/one.tar IMAGE_OTHER=$scratch/other.tar BIN=$PWD/bin VERSION=$VERSION \
	go test -v -count=1 -tags image ./test/image
