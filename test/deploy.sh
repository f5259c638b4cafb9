#!/usr/bin/env bash
# Deploys $MANIFESTS, config/default as it is shipped unless told otherwise, to
# the cluster of $KUBECONFIG and waits until the first apply of one of our
# objects will succeed. With EMBEDDED=<name> the image is first made from bin/
# and loaded into that embedded cluster; any other cluster must be able to pull
# $IMAGE. Arguments are handed to kubectl apply.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${IMAGE:=backup.example.com/backupjob-operator:v0.1.0}"
: "${MANIFESTS:=config/default}"

if [ -n "${EMBEDDED:-}" ]; then
	"$CLUSTER" image --name "$EMBEDDED" --tag "$IMAGE" --entrypoint /manager --user 65532 \
		--file bin/manager=/manager --file bin/agent=/agent
fi
ours=--selector=app.kubernetes.io/part-of=backupjob-operator
# As docs/operating.md says.
kubectl apply --server-side "$@" -k "$MANIFESTS"
kubectl -n backupjob-system wait --for=condition=Ready certificate --all --timeout=2m
kubectl -n backupjob-system rollout status deployment "$ours" --timeout=3m
kubectl wait crd "$ours" --timeout=1m --for=jsonpath='{.spec.conversion.webhook.clientConfig.caBundle}'
kubectl wait mutatingwebhookconfiguration,validatingwebhookconfiguration "$ours" --timeout=1m \
	--for=jsonpath='{.webhooks[1].clientConfig.caBundle}'
