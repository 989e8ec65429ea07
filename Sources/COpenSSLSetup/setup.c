#include "COpenSSLSetup.h"
#include <openssl/crypto.h>

// By default OpenSSL frees its tables when the process calls `exit`, and a thread that computes a digest at that moment
// ends the process by SIGSEGV instead. The first initialisation decides, so it comes before `main`.
__attribute__((constructor)) static void keep_openssl_until_the_end(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
