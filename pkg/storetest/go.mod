module watertight.example/pkg/storetest

go 1.26
