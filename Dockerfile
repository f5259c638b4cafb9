# Builds both binaries and nothing else into an image without a shell; 'make
# image' calls it. The same sources, VERSION and SOURCE_DATE_EPOCH give the same
# bytes, whenever and wherever it is built.

# Its version is that of the toolchain line in go.mod. GO_IMAGE can name a mirror
# or a digest: --build-arg GO_IMAGE=golang:…@sha256:…
ARG GO_IMAGE=golang:1.26.10
FROM ${GO_IMAGE} AS build
WORKDIR /src
# Modules first, so that a change of our code does not fetch them again.
COPY go.mod go.sum ./
RUN go mod download
COPY api/ api/
COPY certs/ certs/
COPY cmd/ cmd/
COPY config/crd/ config/crd/
COPY controller/ controller/
COPY conversion/ conversion/
COPY webhooks/ webhooks/
ARG VERSION=dev
ARG SOURCE_DATE_EPOCH=0
ENV CGO_ENABLED=0
# The flags are those of 'make build', so the binaries are too, byte for byte.
RUN go build -trimpath -buildvcs=false \
    -ldflags="-s -w -buildid= -X main.version=${VERSION}" -o /out/ ./cmd/manager ./cmd/agent \
 && touch -d "@${SOURCE_DATE_EPOCH}" /out/manager /out/agent

FROM scratch
COPY --from=build /out/manager /out/agent /
# By number, because there is no passwd file, and because runAsNonRoot can only
# check a number.
USER 65532:65532
ENTRYPOINT ["/manager"]
