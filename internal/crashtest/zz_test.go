//go:build unix

package crashtest
import ("testing";"pgregory.net/rapid";"fmt")
func TestZZ(t *testing.T){ g:=histories(); c:=map[string]int{}; n:=0; for i:=range 300 { h:=g.Example(i); n+=len(h); if i<5 {fmt.Println(h)}; for _,s:=range h {c[s.verb]++} }; fmt.Println(n/300,c); _ = rapid.Check }
