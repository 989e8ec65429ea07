import CLinux
import Glibc

extension BlobFolder {
    /// Gives back the room that leading bytes of a staged file take; from then on they read as zeros.
    ///
    /// The file keeps its size, and the bytes behind keep their places. A file system that cannot do
    /// it keeps the bytes until the file goes. One that is not there has none.
    public func release(_ name: BlobName, upTo end: Int64) throws(DiskError) {
        do throws(DiskError) {
            let file = try Descriptor(opening: staged.path(of: name.text), O_RDWR)
            try systemCall("fallocate") {
                fallocate(
                    file.number, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, Int(end))
            }
        } catch {
            guard error.kind == .missing || [EOPNOTSUPP, ENOSYS].contains(error.code) else {
                throw error
            }
        }
    }
}
