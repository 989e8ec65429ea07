import Glibc

extension DiskError.Kind {
    init(code: Int32) {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: self = .full
        case EROFS: self = .readOnly
        case EIO: self = .broken
        case ENOENT: self = .missing
        case EEXIST: self = .exists
        case EACCES, EPERM: self = .denied
        case EMFILE, ENFILE: self = .tooManyOpen
        default: self = .other
        }
    }
}
