#pragma once
// libpq (https://www.postgresql.org/docs/current/libpq.html), found by the loader at its first use instead of linked:
// a server with SQLite does not need it, and linking it costs every start the twenty libraries that libpq needs. Its
// binary interface has the same version, 5, since 2004, so what is used of it is declared here and no header of it is
// needed to build.
#include <dlfcn.h>
#include <stddef.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;

typedef struct pgNotify {
    char *relname;
    int be_pid;
    char *extra;
    struct pgNotify *next;
} PGnotify;

typedef struct PQconninfoOption {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);

// The values used of libpq's enumerations.
typedef int ConnStatusType;
typedef int ExecStatusType;
typedef int PGTransactionStatusType;

static const ConnStatusType CONNECTION_OK = 0;
static const ExecStatusType PGRES_EMPTY_QUERY = 0;
static const ExecStatusType PGRES_COMMAND_OK = 1;
static const ExecStatusType PGRES_TUPLES_OK = 2;
static const ExecStatusType PGRES_PIPELINE_SYNC = 10;
static const ExecStatusType PGRES_PIPELINE_ABORTED = 11;
static const PGTransactionStatusType PQTRANS_INTRANS = 2;
static const PGTransactionStatusType PQTRANS_INERROR = 3;

// The library; NULL when it cannot be loaded.
static inline void *postgres_library(void) {
    static void *library;
    void *known = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    if (known != NULL) return known;
    known = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    __atomic_store_n(&library, known, __ATOMIC_RELEASE);
    return known;
}

// Why the library cannot be used; NULL when it can. The text lasts until the loader is called again.
static inline const char *postgres_load(void) {
    void *library = postgres_library();
    if (library == NULL) return dlerror();
    // The newest function that is used, of PostgreSQL 14.
    return dlsym(library, "PQenterPipelineMode") == NULL ? dlerror() : NULL;
}

// Declares a function of the library, which finds it at its first call. `postgres_load` must have succeeded before.
#define POSTGRES_FUNCTION(type, name, parameters, arguments)           \
    static inline type name parameters {                               \
        static type(*found) parameters;                                \
        type(*function) parameters = __atomic_load_n(&found, __ATOMIC_RELAXED); \
        if (function == NULL) {                                        \
            *(void **)&function = dlsym(postgres_library(), #name);    \
            __atomic_store_n(&found, function, __ATOMIC_RELAXED);      \
        }                                                              \
        return function arguments;                                     \
    }

// Connections
POSTGRES_FUNCTION(PGconn *, PQconnectdb, (const char *url), (url))
POSTGRES_FUNCTION(PGconn *, PQconnectdbParams, (const char *const *names, const char *const *values, int expand),
                  (names, values, expand))
POSTGRES_FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *url, char **message), (url, message))
POSTGRES_FUNCTION(void, PQconninfoFree, (PQconninfoOption *options), (options))
POSTGRES_FUNCTION(void, PQfinish, (PGconn *connection), (connection))
POSTGRES_FUNCTION(ConnStatusType, PQstatus, (const PGconn *connection), (connection))
POSTGRES_FUNCTION(PGTransactionStatusType, PQtransactionStatus, (const PGconn *connection), (connection))
POSTGRES_FUNCTION(char *, PQerrorMessage, (const PGconn *connection), (connection))
POSTGRES_FUNCTION(int, PQsocket, (const PGconn *connection), (connection))
POSTGRES_FUNCTION(PQnoticeReceiver, PQsetNoticeReceiver,
                  (PGconn *connection, PQnoticeReceiver receiver, void *context), (connection, receiver, context))

// Statements
POSTGRES_FUNCTION(PGresult *, PQexec, (PGconn *connection, const char *statements), (connection, statements))
POSTGRES_FUNCTION(int, PQenterPipelineMode, (PGconn *connection), (connection))
POSTGRES_FUNCTION(int, PQpipelineSync, (PGconn *connection), (connection))
POSTGRES_FUNCTION(int, PQsendQueryParams,
                  (PGconn *connection, const char *statement, int count, const Oid *types, const char *const *values,
                   const int *lengths, const int *formats, int resultFormat),
                  (connection, statement, count, types, values, lengths, formats, resultFormat))
POSTGRES_FUNCTION(int, PQsendPrepare,
                  (PGconn *connection, const char *name, const char *statement, int count, const Oid *types),
                  (connection, name, statement, count, types))
POSTGRES_FUNCTION(int, PQsendQueryPrepared,
                  (PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
                   const int *formats, int resultFormat),
                  (connection, name, count, values, lengths, formats, resultFormat))
POSTGRES_FUNCTION(PGresult *, PQgetResult, (PGconn *connection), (connection))
POSTGRES_FUNCTION(int, PQconsumeInput, (PGconn *connection), (connection))
POSTGRES_FUNCTION(PGnotify *, PQnotifies, (PGconn *connection), (connection))
POSTGRES_FUNCTION(void, PQfreemem, (void *pointer), (pointer))

// Results
POSTGRES_FUNCTION(ExecStatusType, PQresultStatus, (const PGresult *result), (result))
POSTGRES_FUNCTION(char *, PQresultErrorMessage, (const PGresult *result), (result))
POSTGRES_FUNCTION(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))
POSTGRES_FUNCTION(int, PQntuples, (const PGresult *result), (result))
POSTGRES_FUNCTION(int, PQnfields, (const PGresult *result), (result))
POSTGRES_FUNCTION(char *, PQfname, (const PGresult *result, int column), (result, column))
POSTGRES_FUNCTION(Oid, PQftype, (const PGresult *result, int column), (result, column))
POSTGRES_FUNCTION(char *, PQcmdStatus, (PGresult *result), (result))
POSTGRES_FUNCTION(char *, PQcmdTuples, (PGresult *result), (result))
POSTGRES_FUNCTION(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))
POSTGRES_FUNCTION(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))
POSTGRES_FUNCTION(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))
POSTGRES_FUNCTION(void, PQclear, (PGresult *result), (result))
#undef POSTGRES_FUNCTION
