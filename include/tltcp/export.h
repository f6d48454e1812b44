/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/export.h
 * @brief Export macros of libtltcp.
 */
#ifndef TLTCP_EXPORT_H
#define TLTCP_EXPORT_H

#if defined(TLTCP_STATIC)
/** Export macro of libtltcp. */
#define TLTCP_API
#elif defined(_WIN32) && defined(TLTCP_BUILDING)
#define TLTCP_API __declspec(dllexport)
#elif defined(_WIN32)
#define TLTCP_API __declspec(dllimport)
#else
#define TLTCP_API __attribute__((visibility("default")))
#endif

#endif /* TLTCP_EXPORT_H */
