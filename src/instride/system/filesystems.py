"""What kind of filesystem a mount is: a local disk, somebody else's, or memory."""

from __future__ import annotations

from enum import StrEnum

from instride.system.mounts import Mount


class Kind(StrEnum):
    LOCAL = "local"
    """On a disk of this machine."""
    MEMORY = "memory"
    """Gone after a restart, and part of the machine's memory until then."""
    LAYER = "layer"
    """The writable layer of a container: gone when the container is removed."""
    WINDOWS = "windows"
    """A Windows drive, seen from Linux in WSL: every call crosses to the other system."""
    HOST = "host"
    """A folder of the host, shared with a virtual machine or a container."""
    NETWORK = "network"
    """A server's."""
    OBJECTS = "objects"
    """An object store that is shown as folders: no real rename, nothing is there before close."""
    FUSE = "fuse"
    """A program's, and which one says nothing about where the bytes go."""
    UNKNOWN = "unknown"


_TYPES = {
    Kind.LOCAL: """
        ext2 ext3 ext4 xfs btrfs zfs f2fs jfs reiserfs bcachefs nilfs2 apfs hfs ufs ntfs ntfs3
        refs vfat msdos exfat fuseblk udf erofs squashfs iso9660 fuse.mergerfs fuse.ntfs-3g
        fuse.bindfs fuse.gocryptfs ecryptfs fuse.zfs-fuse
    """,
    Kind.MEMORY: "tmpfs ramfs devtmpfs hugetlbfs",
    Kind.LAYER: "overlay aufs fuse.fuse-overlayfs unionfs",
    Kind.WINDOWS: "drvfs",
    Kind.HOST: """
        9p virtiofs vboxsf prl_fs fakeowner osxfs fuse.grpcfuse fuse.osxfs vmhgfs
        fuse.vmhgfs-fuse
    """,
    Kind.NETWORK: """
        nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs afs afpfs ceph glusterfs lustre gpfs beegfs wekafs
        pvfs2 orangefs webdav davfs ncpfs coda fuse.sshfs fuse.glusterfs fuse.ceph fuse.ceph-fuse
        fuse.davfs fuse.juicefs fuse.seaweedfs fuse.lustre fuse.moosefs fuse.mfs remote
    """,
    Kind.OBJECTS: """
        fuse.s3fs fuse.gcsfuse gcsfuse fuse.rclone fuse.goofys fuse.mount-s3 fuse.blobfuse
        fuse.blobfuse2 fuse.drive fuse.google-drive-ocamlfuse fuse.dropbox fuse.onedriver
        fuse.ossfs fuse.cosfs fuse.geesefs fuse.tigrisfs
    """,
}
_KINDS = {name: kind for kind, names in _TYPES.items() for name in names.split()}
_MEMORY_DISKS = ("/dev/zram", "/dev/ram")
_REMOTE = frozenset({Kind.WINDOWS, Kind.HOST, Kind.NETWORK, Kind.OBJECTS})


def kind_of(mount: Mount) -> Kind:
    type = mount.type.lower()
    if mount.source.startswith(_MEMORY_DISKS):
        return Kind.MEMORY
    if type in ("9p", "virtiofs") and _is_windows_drive(mount):
        return Kind.WINDOWS
    if type in _KINDS:
        return _KINDS[type]
    return Kind.FUSE if type.startswith(("fuse", "macfuse", "osxfuse")) else Kind.UNKNOWN


def is_remote(kind: Kind) -> bool:
    """Writing leaves this system, whoever is at the other end."""
    return kind in _REMOTE


def _is_windows_drive(mount: Mount) -> bool:
    """WSL 2 mounts `C:\\` by 9p with `aname=drvfs`, or by virtiofs with `drvfs` in the tag."""
    return mount.source.lower().startswith("drvfs") or any(
        option.lower().startswith("aname=drvfs") for option in mount.options
    )
