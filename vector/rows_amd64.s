#include "textflag.h"

// The four sums of a row are added up as vek32.Dot does, so that no bit differs.
#define ADDUP(A, B, C, D, AX, BX, TO) \
	VADDPS       A, B, A       \
	VADDPS       A, C, A       \
	VADDPS       A, D, A       \
	VEXTRACTF128 $1, A, BX     \
	VADDPS       BX, AX, AX    \
	VPERMILPD    $1, AX, BX    \
	VADDPS       BX, AX, AX    \
	VMOVSHDUP    AX, BX        \
	VADDSS       BX, AX, AX    \
	VMOVSS       AX, TO

// func dotRows(v, rows *float32, n int, to *float32)
//
// n is a multiple of 32, and not 0. Three rows share what is loaded of v.
TEXT ·dotRows(SB), NOSPLIT, $0-32
	MOVQ   v+0(FP), SI
	MOVQ   rows+8(FP), R8
	MOVQ   n+16(FP), CX
	MOVQ   to+24(FP), DI
	LEAQ   (R8)(CX*4), R9
	LEAQ   (R9)(CX*4), R10
	VXORPS X0, X0, X0
	VXORPS X1, X1, X1
	VXORPS X2, X2, X2
	VXORPS X3, X3, X3
	VXORPS X4, X4, X4
	VXORPS X5, X5, X5
	VXORPS X6, X6, X6
	VXORPS X7, X7, X7
	VXORPS X8, X8, X8
	VXORPS X9, X9, X9
	VXORPS X10, X10, X10
	VXORPS X11, X11, X11
	XORL   AX, AX

loop:
	VMOVUPS     (SI)(AX*4), Y12
	VMOVUPS     32(SI)(AX*4), Y13
	VMOVUPS     64(SI)(AX*4), Y14
	VMOVUPS     96(SI)(AX*4), Y15
	VFMADD231PS (R8)(AX*4), Y12, Y0
	VFMADD231PS 32(R8)(AX*4), Y13, Y1
	VFMADD231PS 64(R8)(AX*4), Y14, Y2
	VFMADD231PS 96(R8)(AX*4), Y15, Y3
	VFMADD231PS (R9)(AX*4), Y12, Y4
	VFMADD231PS 32(R9)(AX*4), Y13, Y5
	VFMADD231PS 64(R9)(AX*4), Y14, Y6
	VFMADD231PS 96(R9)(AX*4), Y15, Y7
	VFMADD231PS (R10)(AX*4), Y12, Y8
	VFMADD231PS 32(R10)(AX*4), Y13, Y9
	VFMADD231PS 64(R10)(AX*4), Y14, Y10
	VFMADD231PS 96(R10)(AX*4), Y15, Y11
	ADDQ        $32, AX
	CMPQ        AX, CX
	JNE         loop

	ADDUP(Y0, Y1, Y2, Y3, X0, X1, (DI))
	ADDUP(Y4, Y5, Y6, Y7, X4, X5, 4(DI))
	ADDUP(Y8, Y9, Y10, Y11, X8, X9, 8(DI))
	VZEROUPPER
	RET
