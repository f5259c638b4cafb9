#!/usr/bin/env bash
# Fails if a script runs something whose version nothing pins. apt is excepted:
# CONTRIBUTING.md lists what comes from Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
if git grep -nE '@(latest|upgrade|patch|main|master)\b|\bgo install\b|\b(curl|wget|npx|pip|npm) |:latest\b' -- \
	Makefile Dockerfile .ci '*.sh' ':!hack/pinned.sh'; then
	echo 'Pin it: tools in a tools module below hack/, images by version.' >&2
	exit 1
fi
for module in hack/tools.mod hack/lint.mod hack/vulndb.mod hack/supply/go.mod; do
	if grep -nE '^replace|=> ' "$module"; then
		echo "$module replaces a module: what runs has to be what its sums say." >&2
		exit 1
	fi
done
echo 'Every tool is pinned.'
