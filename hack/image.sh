#!/usr/bin/env bash
# Builds the image $IMAGE from the Dockerfile with docker, podman or buildah,
# whichever BUILDER names or is there and works, so that equal sources make an
# equal image. Arguments go on to the builder's build command.
#   VERSION=v0.1.0             what the binaries say that they are
#   SOURCE_DATE_EPOCH=seconds  time of everything in it; that of the last commit
#   ARCHIVE=image.tar          also as an OCI archive
set -euo pipefail
cd "$(dirname "$0")/.."
: "${VERSION:=v0.1.0}" "${IMAGE:=backup.example.com/backupjob-operator:$VERSION}"
: "${BUILDER:=}" "${ARCHIVE:=}"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH

works() {
	case $1 in
	docker) command -v docker >/dev/null && docker buildx version >/dev/null 2>&1 && docker info >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null ;;
	esac
}
if [ -z "$BUILDER" ]; then
	for BUILDER in docker podman buildah none; do works "$BUILDER" && break; done
fi

options=(--build-arg "VERSION=$VERSION" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --tag "$IMAGE")
case $BUILDER in
docker)
	outputs=(--output "type=docker,rewrite-timestamp=true")
	[ -z "$ARCHIVE" ] || outputs+=(--output "type=oci,dest=$ARCHIVE,rewrite-timestamp=true")
	# What the builder would say of itself and of the moment is left out.
	docker buildx build --provenance=false --sbom=false "${options[@]}" "${outputs[@]}" "$@" .
	;;
podman | buildah)
	[ "$BUILDER" = podman ] || options+=(--identity-label=false)
	"$BUILDER" build --timestamp "$SOURCE_DATE_EPOCH" --format oci "${options[@]}" "$@" .
	[ -z "$ARCHIVE" ] || "$BUILDER" push "$IMAGE" "oci-archive:$ARCHIVE"
	;;
*)
	echo 'A builder is needed: docker with BuildKit and its engine running, podman or buildah (Debian: apt-get install buildah).' >&2
	exit 1
	;;
esac
