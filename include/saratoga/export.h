/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/export.h
 * @brief Export macros of libsaratoga.
 */
#ifndef SARATOGA_EXPORT_H
#define SARATOGA_EXPORT_H

#if defined(SARATOGA_STATIC)
/** Put on every public function of libsaratoga. */
#define SARATOGA_API
#elif defined(_WIN32) && defined(SARATOGA_BUILDING)
#define SARATOGA_API __declspec(dllexport)
#elif defined(_WIN32)
#define SARATOGA_API __declspec(dllimport)
#else
#define SARATOGA_API __attribute__((visibility("default")))
#endif

#endif /* SARATOGA_EXPORT_H */
