#pragma once
// This module has no functions: linking it initialises OpenSSL.
