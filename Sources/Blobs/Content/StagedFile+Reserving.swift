import CLinux
import Glibc

extension StagedFile {
    /// Takes room on the disk for bytes that are to come, without changing the size of the file.
    ///
    /// What was reserved stays reserved until the file is cut or deleted. It also lies in one piece,
    /// which spares the file system most of its work when the bytes come.
    ///
    /// - Returns: False where the file system cannot reserve; the bytes may come all the same.
    /// - Throws: ``DiskError/Kind/full`` when there is no such room.
    public func reserve(_ range: Range<Int64>) throws(DiskError) -> Bool {
        do throws(DiskError) {
            try systemCall("fallocate") {
                fallocate(
                    descriptor.number, FALLOC_FL_KEEP_SIZE, Int(range.lowerBound), range.count)
            }
            return true
        } catch {
            guard [EOPNOTSUPP, ENOSYS, EINVAL, ENODEV].contains(error.code) else { throw error }
            return false
        }
    }
}
