#include "textflag.h"

// Both kernels keep a sum for each row and column, and add to it the products of two numbers at a time: two of a row,
// which are copied to all lanes, with two of each column.

// func dotProducts8Rows(out *int32, stride int, a, panel *int16, k int)
//
// Z0 to Z7 hold the sums of 8 rows of a, for 16 columns.
TEXT ·dotProducts8Rows(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ stride+8(FP), DX
	MOVQ a+16(FP), R8
	MOVQ panel+24(FP), SI
	MOVQ k+32(FP), CX
	SHLQ $2, DX             // bytes from one row of out to the next
	SHLQ $1, CX             // bytes of a row of a
	LEAQ (CX)(CX*2), R10
	LEAQ (R8)(CX*4), R9     // the fifth row
	XORQ AX, AX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	MOVQ CX, BX

numbers8:
	VMOVDQU32 (SI), Z8
	VPDPWSSD.BCST (R8), Z8, Z0
	VPDPWSSD.BCST (R8)(CX*1), Z8, Z1
	VPDPWSSD.BCST (R8)(CX*2), Z8, Z2
	VPDPWSSD.BCST (R8)(R10*1), Z8, Z3
	VPDPWSSD.BCST (R9), Z8, Z4
	VPDPWSSD.BCST (R9)(CX*1), Z8, Z5
	VPDPWSSD.BCST (R9)(CX*2), Z8, Z6
	VPDPWSSD.BCST (R9)(R10*1), Z8, Z7
	ADDQ $64, SI
	ADDQ $4, R8
	ADDQ $4, R9
	SUBQ $4, BX
	JNZ  numbers8

	VMOVDQU32 Z0, (DI)
	VMOVDQU32 Z1, (DI)(DX*1)
	VMOVDQU32 Z2, (DI)(DX*2)
	LEAQ (DX)(DX*2), R10
	VMOVDQU32 Z3, (DI)(R10*1)
	LEAQ (DI)(DX*4), DI
	VMOVDQU32 Z4, (DI)
	VMOVDQU32 Z5, (DI)(DX*1)
	VMOVDQU32 Z6, (DI)(DX*2)
	VMOVDQU32 Z7, (DI)(R10*1)
	VZEROUPPER
	RET

// ROW adds to Y and Z, the sums of one row, the products of two of its numbers at A with those of the columns in Y8 and Y9.
// It uses Y10 to Y12.
#define ROW(A, Y, Z) \
	VPBROADCASTD A, Y10   \
	VPMADDWD Y8, Y10, Y11 \
	VPMADDWD Y9, Y10, Y12 \
	VPADDD   Y11, Y, Y    \
	VPADDD   Y12, Z, Z

// func dotProducts4Rows(out *int32, stride int, a, panel *int16, k int)
//
// Y0 to Y7 hold the sums of 4 rows of a, for 8 columns each.
TEXT ·dotProducts4Rows(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ stride+8(FP), DX
	MOVQ a+16(FP), R8
	MOVQ panel+24(FP), SI
	MOVQ k+32(FP), CX
	SHLQ $2, DX             // bytes from one row of out to the next
	SHLQ $1, CX             // bytes of a row of a
	LEAQ (CX)(CX*2), R10
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	MOVQ CX, BX

numbers4:
	VMOVDQU (SI), Y8
	VMOVDQU 32(SI), Y9
	ROW((R8), Y0, Y1)
	ROW((R8)(CX*1), Y2, Y3)
	ROW((R8)(CX*2), Y4, Y5)
	ROW((R8)(R10*1), Y6, Y7)
	ADDQ $64, SI
	ADDQ $4, R8
	SUBQ $4, BX
	JNZ  numbers4

	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ DX, DI
	VMOVDQU Y2, (DI)
	VMOVDQU Y3, 32(DI)
	ADDQ DX, DI
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	ADDQ DX, DI
	VMOVDQU Y6, (DI)
	VMOVDQU Y7, 32(DI)
	VZEROUPPER
	RET
