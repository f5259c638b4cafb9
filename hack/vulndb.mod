// Go's vulnerability database, as a module: pinned, checked by its sum, and
// there where only a module proxy is. 'make vulncheck' reads its data.
module example.com/backupjob-operator/hack/vulndb

go 1.26.0

require golang.org/x/vulndb v0.0.0-20261105234957-e22db6528018 // indirect
