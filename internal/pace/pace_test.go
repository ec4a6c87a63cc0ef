package pace

import (
	"runtime"
	"testing"
	"time"
)

func TestOneProcessorUntilTheFirstCollection(t *testing.T) {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Skipf("%d processors: this test binary has collected garbage before the test", n)
	}
	if runtime.NumCPU() == 1 {
		t.Skip("this machine has one processor")
	}
	runtime.GC()
	for range 500 {
		if runtime.GOMAXPROCS(0) > 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d processors after a collection", runtime.GOMAXPROCS(0))
}
