/* SPDX-License-Identifier: MIT */
/* The points of Curve25519 whose product with any clamped key is zero, in each encoding that RFC 7748 decodes
 * to them. Source: cr.yp.to/ecdh.html ("How do I validate Curve25519 public keys?"). */
#ifndef WGTCP_TESTS_CRYPTO_LOW_ORDER_H
#define WGTCP_TESTS_CRYPTO_LOW_ORDER_H

static const char *const low_order_points[] = {
	"0000000000000000000000000000000000000000000000000000000000000000", /* 0 */
	"0100000000000000000000000000000000000000000000000000000000000000", /* 1 */
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", /* order 8 */
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157", /* order 8 */
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* p - 1 */
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* p */
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* p + 1 */
	/* the same with the bit set that is ignored */
	"0000000000000000000000000000000000000000000000000000000000000080",
	"0100000000000000000000000000000000000000000000000000000000000080",
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
};
#define LOW_ORDER_COUNT (sizeof(low_order_points) / sizeof(low_order_points[0]))

#endif
