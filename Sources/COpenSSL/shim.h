#pragma once
// The low-level digest contexts are plain memory, so a running digest can be stored with an upload's
// record and taken up again after a restart; EVP hides that memory and offers no way to serialise it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
