#pragma once
// libcurl (https://curl.se/libcurl/c/), found by the loader at its first use instead of linked: most
// servers send no request, and linking it costs every start 7 ms and 6 MiB for the twenty libraries
// that it needs. Its binary interface has been the same since 2006, so what is used of it is declared here
// and no header of it is needed to build.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct curl_easy curl_easy;
typedef struct curl_multi curl_multi;
typedef struct curl_list curl_list;

struct curl_version {
    int age;
    const char *text;
    unsigned int number;
};

struct curl_message {
    int kind;
    curl_easy *easy;
    union {
        void *anything;
        int result;
    } data;
};

struct curl_address {
    int family;
    int type;
    int protocol;
    unsigned int length;
    struct sockaddr address;
};

typedef size_t (*curl_bytes_function)(char *bytes, size_t one, size_t count, void *transfer);
typedef int (*curl_seek_function)(void *transfer, int64_t offset, int origin);
typedef int (*curl_open_function)(void *transfer, int purpose, struct curl_address *address);
typedef int (*curl_socket_function)(curl_easy *easy, int descriptor, int events, void *loop, void *own);
typedef int (*curl_timer_function)(curl_multi *multi, long milliseconds, void *loop);

// What libcurl offers, by its names there without the `curl_` before them.
struct curl_library {
    int (*global_init)(long flags);
    struct curl_version *(*version_info)(int age);
    curl_easy *(*easy_init)(void);
    void (*easy_cleanup)(curl_easy *);
    int (*easy_setopt)(curl_easy *, int option, ...);
    int (*easy_getinfo)(curl_easy *, int info, ...);
    int (*easy_pause)(curl_easy *, int mask);
    const char *(*easy_strerror)(int result);
    curl_list *(*slist_append)(curl_list *, const char *);
    void (*slist_free_all)(curl_list *);
    curl_multi *(*multi_init)(void);
    int (*multi_cleanup)(curl_multi *);
    int (*multi_setopt)(curl_multi *, int option, ...);
    int (*multi_add_handle)(curl_multi *, curl_easy *);
    int (*multi_remove_handle)(curl_multi *, curl_easy *);
    int (*multi_socket_action)(curl_multi *, int descriptor, int events, int *running);
    struct curl_message *(*multi_info_read)(curl_multi *, int *waiting);
};

// Fills in the library. NULL when all of it is there, else the loader's error; that text lasts until
// the loader is called again.
static inline const char *curl_load(struct curl_library *curl) {
    void *file = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) return dlerror();
#define CURL_FIND(name) \
    if ((*(void **)&curl->name = dlsym(file, "curl_" #name)) == NULL) return dlerror();
    CURL_FIND(global_init)
    CURL_FIND(version_info)
    CURL_FIND(easy_init)
    CURL_FIND(easy_cleanup)
    CURL_FIND(easy_setopt)
    CURL_FIND(easy_getinfo)
    CURL_FIND(easy_pause)
    CURL_FIND(easy_strerror)
    CURL_FIND(slist_append)
    CURL_FIND(slist_free_all)
    CURL_FIND(multi_init)
    CURL_FIND(multi_cleanup)
    CURL_FIND(multi_setopt)
    CURL_FIND(multi_add_handle)
    CURL_FIND(multi_remove_handle)
    CURL_FIND(multi_socket_action)
    CURL_FIND(multi_info_read)
#undef CURL_FIND
    return NULL;
}

// The options used, by their numbers in the binary interface.
enum {
    CURL_LOW_SPEED_LIMIT = 19,
    CURL_LOW_SPEED_TIME = 20,
    CURL_NOBODY = 44,
    CURL_UPLOAD = 46,
    CURL_HTTP_VERSION = 84,
    CURL_BUFFERSIZE = 98,
    CURL_NOSIGNAL = 99,
    CURL_TIMEOUT_MS = 155,
    CURL_CONNECTTIMEOUT_MS = 156,
    CURL_PROTOCOLS = 181,
    CURL_PATH_AS_IS = 234,
    CURL_SUPPRESS_CONNECT_HEADERS = 265,
    CURL_UPLOAD_BUFFERSIZE = 280,
    CURL_WRITEDATA = 10001,
    CURL_URL = 10002,
    CURL_PROXY = 10004,
    CURL_READDATA = 10009,
    CURL_ERRORBUFFER = 10010,
    CURL_HTTPHEADER = 10023,
    CURL_HEADERDATA = 10029,
    CURL_CUSTOMREQUEST = 10036,
    CURL_CAINFO = 10065,
    CURL_PRIVATE = 10103,
    CURL_OPENSOCKETDATA = 10164,
    CURL_SEEKDATA = 10168,
    CURL_WRITEFUNCTION = 20011,
    CURL_READFUNCTION = 20012,
    CURL_HEADERFUNCTION = 20079,
    CURL_OPENSOCKETFUNCTION = 20163,
    CURL_SEEKFUNCTION = 20167,
    CURL_INFILESIZE_LARGE = 30115,
};

// Options of a multi handle.
enum {
    CURL_MULTI_MAX_HOST_CONNECTIONS = 7,
    CURL_MULTI_SOCKETDATA = 10002,
    CURL_MULTI_TIMERDATA = 10005,
    CURL_MULTI_SOCKETFUNCTION = 20001,
    CURL_MULTI_TIMERFUNCTION = 20004,
};

// Other numbers of the interface.
enum {
    CURL_GLOBAL_DEFAULT = 3,
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_PROTOCOLS_HTTP_AND_HTTPS = 3,
    CURL_INFO_PRIVATE = 0x100000 + 21,
    CURL_MESSAGE_DONE = 1,
    CURL_EVENT_IN = 1,
    CURL_EVENT_OUT = 2,
    CURL_EVENT_REMOVE = 4,
    CURL_TIMEOUT = -1,
    CURL_NO_SOCKET = -1,
    CURL_CONTINUE = 0,
    CURL_PAUSE = 0x10000001,
    CURL_ABORT = 0x10000000,
};

// Results that callers distinguish.
enum {
    CURL_OK = 0,
    CURL_URL_MALFORMED = 3,
    CURL_COULD_NOT_RESOLVE_PROXY = 5,
    CURL_COULD_NOT_RESOLVE_HOST = 6,
    CURL_COULD_NOT_CONNECT = 7,
    CURL_TIMED_OUT = 28,
    CURL_SSL_CONNECT_ERROR = 35,
    CURL_SSL_CERTIFICATE_PROBLEM = 58,
    CURL_SSL_CIPHER = 59,
    CURL_PEER_FAILED_VERIFICATION = 60,
    CURL_SSL_BAD_AUTHORITIES = 77,
};

// The one variadic call, by the type of what is set.
static inline int curl_set_number(const struct curl_library *curl, curl_easy *easy, int option, long number) {
    return curl->easy_setopt(easy, option, number);
}
static inline int curl_set_size(const struct curl_library *curl, curl_easy *easy, int option, int64_t size) {
    return curl->easy_setopt(easy, option, size);
}
static inline int curl_set_text(const struct curl_library *curl, curl_easy *easy, int option, const char *text) {
    return curl->easy_setopt(easy, option, text);
}
static inline int curl_set_list(const struct curl_library *curl, curl_easy *easy, int option, curl_list *list) {
    return curl->easy_setopt(easy, option, list);
}
static inline int curl_set_pointer(const struct curl_library *curl, curl_easy *easy, int option, void *pointer) {
    return curl->easy_setopt(easy, option, pointer);
}
static inline int curl_set_bytes(const struct curl_library *curl, curl_easy *easy, int option, curl_bytes_function call) {
    return curl->easy_setopt(easy, option, call);
}
static inline int curl_set_seek(const struct curl_library *curl, curl_easy *easy, curl_seek_function call) {
    return curl->easy_setopt(easy, CURL_SEEKFUNCTION, call);
}
static inline int curl_set_open(const struct curl_library *curl, curl_easy *easy, curl_open_function call) {
    return curl->easy_setopt(easy, CURL_OPENSOCKETFUNCTION, call);
}
static inline void *curl_private(const struct curl_library *curl, curl_easy *easy) {
    void *pointer = NULL;
    curl->easy_getinfo(easy, CURL_INFO_PRIVATE, &pointer);
    return pointer;
}
static inline int curl_multi_set_number(const struct curl_library *curl, curl_multi *multi, int option, long number) {
    return curl->multi_setopt(multi, option, number);
}
// What a multi handle tells its loop: which sockets to watch, and when to call it again.
static inline void curl_multi_set_loop(
    const struct curl_library *curl, curl_multi *multi, void *loop, curl_socket_function socket,
    curl_timer_function timer) {
    curl->multi_setopt(multi, CURL_MULTI_SOCKETDATA, loop);
    curl->multi_setopt(multi, CURL_MULTI_SOCKETFUNCTION, socket);
    curl->multi_setopt(multi, CURL_MULTI_TIMERDATA, loop);
    curl->multi_setopt(multi, CURL_MULTI_TIMERFUNCTION, timer);
}
