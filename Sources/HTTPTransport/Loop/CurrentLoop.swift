import CLinux
import Glibc

/// Which loop the calling thread is running, if any.
enum CurrentLoop {
    // A pthread key: Swift has no thread-local storage, and the loop wanders between the threads of
    // Dispatch. The pointer is unretained; a loop sets and clears it around its own run.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    static var value: EventLoop? {
        get {
            guard let pointer = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue()
        }
        set {
            unsafe pthread_setspecific(
                key,
                newValue.map { loop in
                    unsafe UnsafeRawPointer(Unmanaged.passUnretained(loop).toOpaque())
                })
        }
    }
}
