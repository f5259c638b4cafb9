#!/usr/bin/env bash
# Makes the image that the Dockerfile starts from, under the name that it uses,
# out of Go's own distribution and Debian's busybox: for machines that reach no
# registry. It goes into the store of CONTAINERS_STORAGE_CONF.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=$(sed -n 's/^ARG GO_IMAGE=//p' Dockerfile)
version=${name#golang:}

toolchain=$(sed -n 's/^toolchain //p' go.mod)
[ "go$version" = "$toolchain" ] || {
	echo "The Dockerfile starts from $name, go.mod names the toolchain $toolchain: they have to be the same." >&2
	exit 1
}
recipe=$(sha256sum <test/image/builder.sh | cut -c1-16)
if [ "$(buildah inspect --type image --format '{{index .OCIv1.Config.Labels "recipe"}}' "localhost/$name" 2>/dev/null)" = "$recipe" ]; then exit 0; fi

goroot=$(GOTOOLCHAIN=$toolchain go env GOROOT)
root=$(mktemp -d)
trap 'chmod -R u+w "$root"; rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,etc/ssl/certs,tmp,root,go,usr/local/go}
cp "$(command -v busybox)" "$root/bin/busybox"
for command in sh touch mkdir; do ln -s busybox "$root/bin/$command"; done
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
cp -r "$goroot"/{bin,lib,pkg,src,VERSION,go.env} "$root/usr/local/go/"
chmod -R u+w "$root"
buildah build --quiet --format oci --label "recipe=$recipe" --tag "localhost/$name" -f - "$root" <<-TEXT >/dev/null
	FROM scratch
	COPY . /
	ENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOCACHE=/go/build-cache GOTOOLCHAIN=local
TEXT
