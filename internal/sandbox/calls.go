package sandbox

import "encoding/binary"

// From seccomp(2) and classic BPF, with the offsets of the fields of struct seccomp_data that the
// filter loads.
const (
	atNumber, atArch = 0, 4

	bpfLoad, bpfAnd, bpfReturn          = 0x20, 0x54, 0x06
	bpfIfEqual, bpfIfMore, bpfIfAtLeast = 0x15, 0x25, 0x35

	callsAllowed = 0x7fff0000
	callsAbsent  = 0x00050000 | 38 // ENOSYS, as from a kernel without keys

	x32Call = 1 << 30 // flag of alternative call numbers on amd64
)

// keyCalls has the number of add_key for each supported processor; request_key and keyctl follow
// it.
var keyCalls = []struct{ arch, first uint32 }{
	{0xc000003e, 248}, // amd64
	{0x40000003, 286}, // 386
	{0xc00000b7, 217}, // arm64
	{0x40000028, 309}, // arm
	{0xc00000f3, 217}, // riscv64
	{0xc0000015, 269}, // ppc64le
	{0x80000016, 278}, // s390x
}

// callFilter returns a seccomp program that removes the system calls for keys. Any process of a
// user can access the user's keyring by its number, with any session keyring.
func callFilter() (b []byte) {
	add := func(code uint16, yes, no uint8, k uint32) {
		b = binary.NativeEndian.AppendUint16(b, code)
		b = binary.NativeEndian.AppendUint32(append(b, yes, no), k)
	}
	for _, c := range keyCalls {
		add(bpfLoad, 0, 0, atArch)
		add(bpfIfEqual, 0, 6, c.arch) // else go on to the next
		add(bpfLoad, 0, 0, atNumber)
		add(bpfAnd, 0, 0, ^uint32(x32Call))
		add(bpfIfAtLeast, 0, 2, c.first)
		add(bpfIfMore, 1, 0, c.first+2)
		add(bpfReturn, 0, 0, callsAbsent)
		add(bpfReturn, 0, 0, callsAllowed)
	}
	add(bpfReturn, 0, 0, callsAllowed)
	return b
}
