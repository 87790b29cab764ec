package faults

import (
	"testing"

	"watertight.example/demo/internal/toxitest"
)

func TestMain(m *testing.M) { toxitest.Main(m) }
