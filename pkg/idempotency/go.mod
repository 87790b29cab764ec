module watertight.example/pkg/idempotency

go 1.26.0

replace (
	watertight.example/pkg/storetest => ../../pkg/storetest
)

require (
	watertight.example/pkg/storetest v0.0.0
)
