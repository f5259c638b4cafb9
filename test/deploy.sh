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
kubectl apply --server-side "$@" -k "$MANIFESTS"
kubectl -n backupjob-system wait --for=condition=Ready certificate --all --timeout=120s
kubectl -n backupjob-system rollout status deployment/backupjob-webhook deployment/backupjob-controller --timeout=180s
# cainjector has filled the bundles, and the API server uses them.
for crd in backupjobs mysqlbackups; do
	kubectl wait "crd/$crd.backup.example.com" --timeout=60s \
		--for=jsonpath='{.spec.conversion.webhook.clientConfig.caBundle}'
done
for kind in mutating validating; do
	for i in 0 1; do
		kubectl wait "${kind}webhookconfiguration" --timeout=60s -l app.kubernetes.io/part-of=backupjob-operator \
			--for=jsonpath="{.webhooks[$i].clientConfig.caBundle}"
	done
done
