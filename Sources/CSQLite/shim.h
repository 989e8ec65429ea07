#pragma once
#include <sqlite3.h>

/// Leaves out the counting of memory, which takes a lock at every allocation of every connection;
/// `sqlite3_config` is variadic, so Swift cannot call it. Before the first connection only.
static inline int csqlite_leave_out_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
