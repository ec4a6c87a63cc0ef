//go:build linux

package proc

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// From sock_diag(7) and <linux/inet_diag.h>. The structures are the same on all processors.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	established      = 1 << 1
	inetDiagInfo     = 2   // an attribute: struct tcp_info
	diagMessage      = 72  // bytes of struct inet_diag_msg
	diagInode        = 68  // offset of the socket's inode
	bytesReceived    = 128 // offset of bytes received in struct tcp_info
)

// received returns how many bytes the family's connections have received since they were opened.
func (f *family) received() (sum uint64) {
	sockets := map[uint32]bool{}
	for _, pid := range f.pids() {
		for _, inode := range socketsOf(pid) {
			sockets[inode] = true
		}
	}
	for _, version := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
		for inode, n := range connections(version) {
			if sockets[inode] {
				sum += n
			}
		}
	}
	return sum
}

// socketsOf returns the inodes of a process's sockets.
func socketsOf(pid int) (all []uint32) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, n := range names {
		to, err := os.Readlink(dir + "/" + n.Name())
		if err != nil {
			continue
		}
		if number, ok := strings.CutPrefix(to, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 32); err == nil {
				all = append(all, uint32(inode))
			}
		}
	}
	return all
}

// connections returns the bytes received on each TCP connection of this machine, by the socket's
// inode; none if the system does not report them.
func connections(version uint8) map[uint32]uint64 {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return nil
	}
	defer func() { _ = syscall.Close(fd) }()
	patience := syscall.NsecToTimeval(time.Second.Nanoseconds())
	if syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &patience) != nil ||
		syscall.Sendto(fd, diagRequest(version), 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}) != nil {
		return nil
	}
	found := map[uint32]uint64{}
	for buf := make([]byte, 64<<10); ; {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if err != nil || n == 0 {
			return found
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return found
		}
		for _, m := range messages {
			if m.Header.Type != sockDiagByFamily {
				return found // the end, or an error
			}
			if inode, n, ok := readConnection(m.Data); ok {
				found[inode] = n
			}
		}
	}
}

// diagRequest requests all established connections with their tcp_info.
func diagRequest(version uint8) []byte {
	const size = syscall.NLMSG_HDRLEN + 56
	b := make([]byte, size)
	binary.NativeEndian.PutUint32(b, size)
	binary.NativeEndian.PutUint16(b[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(b[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	req := b[syscall.NLMSG_HDRLEN:]
	req[0], req[1], req[2] = version, syscall.IPPROTO_TCP, 1<<(inetDiagInfo-1)
	binary.NativeEndian.PutUint32(req[4:], established)
	return b
}

// readConnection parses a message and its attributes.
func readConnection(b []byte) (inode uint32, received uint64, ok bool) {
	if len(b) < diagMessage {
		return 0, 0, false
	}
	inode = binary.NativeEndian.Uint32(b[diagInode:])
	for b = b[diagMessage:]; len(b) >= syscall.SizeofRtAttr; {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < syscall.SizeofRtAttr || size > len(b) {
			return 0, 0, false
		}
		if kind == inetDiagInfo && size >= syscall.SizeofRtAttr+bytesReceived+8 {
			return inode, binary.NativeEndian.Uint64(b[syscall.SizeofRtAttr+bytesReceived:]), true
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	return 0, 0, false
}
