module watertight.example/services/productpage

go 1.26.0

replace (
	watertight.example/pkg/resilience => ../../pkg/resilience
	watertight.example/pkg/service => ../../pkg/service
	watertight.example/pkg/storetest => ../../pkg/storetest
)

require (
	watertight.example/pkg/resilience v0.0.0
	watertight.example/pkg/service v0.0.0
	watertight.example/pkg/storetest v0.0.0
)
