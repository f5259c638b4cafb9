#!/usr/bin/env bash
# Deploys the operator and runs the compiled suite against the cluster of
# $KUBECONFIG.
set -euo pipefail
suite=$1
cd "$(dirname "$0")/../.."
export PATH="$PWD/bin:$PATH"
bash test/deploy.sh
cd test/e2e
exec "$suite" -test.v -test.timeout 40m -ginkgo.no-color -ginkgo.timeout 40m
