#pragma once
// The low-level digest contexts are plain memory, so a running digest can be stored with an upload's
// record and resumed after a restart; EVP hides that memory and offers no way to serialise it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

// The buffers that the TLS sessions of one loop read from and write to. OpenSSL's own memory BIO keeps the largest
// buffer it ever needed for as long as the connection lives; this one belongs to the loop.
typedef struct tls_wire {
    const unsigned char *input;
    size_t input_count;
    unsigned char *output;
    size_t output_count;
    size_t output_capacity;
} tls_wire;

static inline int tls_wire_read(BIO *bio, char *bytes, int count) {
    tls_wire *wire = (tls_wire *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire->input_count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    size_t taken = (size_t)count < wire->input_count ? (size_t)count : wire->input_count;
    memcpy(bytes, wire->input, taken);
    wire->input += taken;
    wire->input_count -= taken;
    return (int)taken;
}

static inline int tls_wire_write(BIO *bio, const char *bytes, int count) {
    tls_wire *wire = (tls_wire *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t needed = wire->output_count + (size_t)count;
    if (needed > wire->output_capacity) {
        size_t capacity = needed > 2 * wire->output_capacity ? needed : 2 * wire->output_capacity;
        unsigned char *grown = (unsigned char *)realloc(wire->output, capacity);
        if (!grown) return -1;
        wire->output = grown;
        wire->output_capacity = capacity;
    }
    memcpy(wire->output + wire->output_count, bytes, (size_t)count);
    wire->output_count = needed;
    return count;
}

static inline long tls_wire_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static inline BIO_METHOD *tls_wire_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
    if (!method) return NULL;
    BIO_meth_set_read(method, tls_wire_read);
    BIO_meth_set_write(method, tls_wire_write);
    BIO_meth_set_ctrl(method, tls_wire_control);
    return method;
}

// A TLS session of a server over these buffers; NULL when there is no memory.
static inline SSL *tls_accept(SSL_CTX *context, const BIO_METHOD *method, tls_wire *wire) {
    SSL *session = SSL_new(context);
    BIO *bio = session ? BIO_new(method) : NULL;
    if (!bio) {
        SSL_free(session);
        return NULL;
    }
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set_bio(session, bio, bio);
    SSL_set_accept_state(session);
    return session;
}

// What OpenSSL offers as macros only.
static inline int tls_limit_versions(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
}

static inline void tls_set_manners(SSL_CTX *context, int has_tickets) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    // The input is in memory, so a record is read at once instead of its five-byte header first.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(
        context,
        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
            | SSL_OP_PRIORITIZE_CHACHA | (has_tickets ? 0 : SSL_OP_NO_TICKET));
}

static inline int tls_set_groups(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}

static inline int tls_set_signatures(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_sigalgs_list(context, list) && SSL_CTX_set1_client_sigalgs_list(context, list);
}

static inline int tls_add_to_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int tls_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

// The bytes of a name, and its kind: GEN_DNS or GEN_IPADD; 0 for every other kind.
static inline int tls_name(
    const GENERAL_NAMES *names, int index, const unsigned char **bytes, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName
        : name->type == GEN_IPADD ? name->d.iPAddress : NULL;
    if (!text) return 0;
    *bytes = ASN1_STRING_get0_data(text);
    *count = ASN1_STRING_length(text);
    return name->type;
}


// The subject of a certificate as text (RFC 4514).
static inline unsigned long tls_name_form(void) { return XN_FLAG_RFC2253; }

// Prepares the HMAC-SHA-256 of a ticket.
static inline int tls_key_ticket_mac(EVP_MAC_CTX *mac, unsigned char *key, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters);
}
