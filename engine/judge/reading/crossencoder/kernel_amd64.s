#include "textflag.h"

// SUM leaves the sum of the eight numbers of Y in the low half of X, using Y15.
#define SUM(Y, X) \
	VEXTRACTI128 $1, Y, X15   \
	VPADDD       X15, X, X    \
	VPSHUFD      $0x4E, X, X15 \
	VPADDD       X15, X, X    \
	VPSHUFD      $0xB1, X, X15 \
	VPADDD       X15, X, X

// ROW adds the products of 16 numbers of a row of a with those of the two rows of b in Y8 and Y9 to the sums Y and Z, using Y10
// to Y12.
#define ROW(A, Y, Z) \
	VMOVDQU  (A)(AX*1), Y10 \
	VPMADDWD Y8, Y10, Y11   \
	VPMADDWD Y9, Y10, Y12   \
	VPADDD   Y11, Y, Y      \
	VPADDD   Y12, Z, Z

// func dotProducts4Rows(out *int32, stride int, a, b *int16, k, n int)
//
// Y0 to Y7 hold the sums of 4 rows of a (R8 to R11) with 2 rows of b (SI, R12).
TEXT ·dotProducts4Rows(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ stride+8(FP), DX
	MOVQ a+16(FP), R8
	MOVQ b+24(FP), SI
	MOVQ k+32(FP), CX
	MOVQ n+40(FP), BX
	SHLQ $2, DX           // bytes from one row of out to the next
	SHLQ $1, CX           // bytes of a row of a or b
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (R10)(CX*1), R11

columns:
	LEAQ  (SI)(CX*1), R12
	XORQ  AX, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

numbers:
	VMOVDQU (SI)(AX*1), Y8
	VMOVDQU (R12)(AX*1), Y9
	ROW(R8, Y0, Y1)
	ROW(R9, Y2, Y3)
	ROW(R10, Y4, Y5)
	ROW(R11, Y6, Y7)
	ADDQ $32, AX
	CMPQ AX, CX
	JNE  numbers

	SUM(Y0, X0)
	SUM(Y1, X1)
	SUM(Y2, X2)
	SUM(Y3, X3)
	SUM(Y4, X4)
	SUM(Y5, X5)
	SUM(Y6, X6)
	SUM(Y7, X7)
	MOVQ  DI, R13
	VMOVD X0, (R13)
	VMOVD X1, 4(R13)
	ADDQ  DX, R13
	VMOVD X2, (R13)
	VMOVD X3, 4(R13)
	ADDQ  DX, R13
	VMOVD X4, (R13)
	VMOVD X5, 4(R13)
	ADDQ  DX, R13
	VMOVD X6, (R13)
	VMOVD X7, 4(R13)
	ADDQ  $8, DI
	LEAQ  (R12)(CX*1), SI
	SUBQ  $2, BX
	JNZ   columns

	VZEROUPPER
	RET
