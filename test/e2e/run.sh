#!/usr/bin/env bash
# Deploys the operator and runs the compiled suite against the cluster of
# $KUBECONFIG, within a time limit. What follows are flags of the suite.
set -euo pipefail
suite=$1
limit=$2
shift 2
cd "$(dirname "$0")/../.."
export PATH="$PWD/bin:$PATH"
bash test/deploy.sh
cd test/e2e
exec "$suite" -test.v -test.timeout "$limit" -ginkgo.no-color -ginkgo.timeout "$limit" "$@"
