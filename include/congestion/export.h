/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/export.h
 * @brief Marks what libcongestion exports.
 */
#ifndef CONGESTION_EXPORT_H
#define CONGESTION_EXPORT_H

#if defined(CONG_STATIC)
/** Put on every public function of libcongestion. */
#define CONG_API
#elif defined(_WIN32) && defined(CONG_BUILDING)
#define CONG_API __declspec(dllexport)
#elif defined(_WIN32)
#define CONG_API __declspec(dllimport)
#else
#define CONG_API __attribute__((visibility("default")))
#endif

#endif /* CONGESTION_EXPORT_H */
