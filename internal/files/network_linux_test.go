package files

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkFileSystems(t *testing.T) {
	if kind := NetworkFileSystem(t.TempDir()); kind != "" {
		t.Errorf("a temporary folder is on %s", kind)
	}
	for number, want := range map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda", unix.NCP_SUPER_MAGIC: "NCP",
		unix.CEPH_SUPER_MAGIC: "Ceph", unix.OCFS2_SUPER_MAGIC: "OCFS2", unix.EXT4_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "",
	} {
		if got := networkKinds[number]; got != want {
			t.Errorf("%#x is %q, want %q", number, got, want)
		}
	}
}
