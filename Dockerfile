# Builds both binaries and nothing else into an image without a shell:
#   docker build --build-arg VERSION=v0.1.0 -t backup.example.com/backupjob-operator:v0.1.0 .
FROM golang:1.26.8 AS build
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
ENV CGO_ENABLED=0
RUN go build -trimpath -buildvcs=false -ldflags="-s -w -X main.version=${VERSION}" -o /out/manager ./cmd/manager \
 && go build -trimpath -buildvcs=false -ldflags="-s -w -X main.version=${VERSION}" -o /out/agent ./cmd/agent

FROM scratch
COPY --from=build /out/manager /manager
COPY --from=build /out/agent /agent
# By number, because there is no passwd file, and because runAsNonRoot can only
# check a number.
USER 65532:65532
ENTRYPOINT ["/manager"]
