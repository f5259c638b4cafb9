#!/usr/bin/env bash
# Deploys the operator and runs the compiled suite against the cluster of
# $KUBECONFIG, within a time limit in minutes. What follows are flags of the
# suite. Past the limit it reports where it stands; Go's own limit is for when
# that hangs too.
set -euo pipefail
suite=$1
limit=$2
shift 2
cd "$(dirname "$0")/../.."
export PATH="$PWD/bin:$PATH"
bash test/deploy.sh
cd test/e2e
exec "$suite" -test.v -test.timeout $((limit + 5))m -ginkgo.no-color -ginkgo.timeout "${limit}m" -ginkgo.poll-progress-after 5m -ginkgo.poll-progress-interval 5m "$@"
