#pragma once
// What the toolchain's Glibc module leaves out of Linux. _GNU_SOURCE is not defined here: it changes
// the layout of types which that module has already imported, so the calls behind it are declared.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

long syscall(long number, ...);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
int sync_file_range(int descriptor, off_t offset, off_t count, unsigned int flags);

ssize_t copy_file_range(
    int source, off_t *source_offset, int target, off_t *target_offset, size_t count, unsigned int flags);

int fallocate(int descriptor, int mode, off_t offset, off_t count);

#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#endif

#ifndef SYNC_FILE_RANGE_WRITE
#define SYNC_FILE_RANGE_WAIT_BEFORE 1
#define SYNC_FILE_RANGE_WRITE 2
#define SYNC_FILE_RANGE_WAIT_AFTER 4
#endif

// The two calls of every request, without the C library, which makes each of them a
// cancellation point in a process of several threads: 2 % of a small request. No thread is cancelled
// here. Both set `errno` as the library's functions do.
static inline ssize_t linux_recv(int descriptor, void *bytes, size_t count, int flags) {
    return syscall(SYS_recvfrom, descriptor, bytes, count, flags, NULL, NULL);
}

static inline ssize_t linux_send(int descriptor, const void *bytes, size_t count, int flags) {
    return syscall(SYS_sendto, descriptor, bytes, count, flags, NULL, 0);
}

static inline ssize_t linux_send_vectors(
    int descriptor, struct iovec *vectors, size_t count, int flags) {
    const struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    return syscall(SYS_sendmsg, descriptor, &message, flags);
}

// Reads from the page cache and never waits for the disk: -1 with EAGAIN where it would have to.
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
static inline ssize_t linux_read_cached(int descriptor, void *bytes, size_t count, off_t offset) {
    struct iovec piece = {bytes, count};
    return syscall(SYS_preadv2, descriptor, &piece, 1L, (long)offset, 0L, RWF_NOWAIT);
}
