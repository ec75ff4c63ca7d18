#include "textflag.h"

DATA magnitude<>+0(SB)/4, $0x7FFFFFFF
GLOBL magnitude<>(SB), RODATA|NOPTR, $4

// Of exp8: expSteps, expLimit*expSteps, and the largest number below that.
DATA expSteps<>+0(SB)/4, $0x43000000
GLOBL expSteps<>(SB), RODATA|NOPTR, $4
DATA expEnd<>+0(SB)/4, $0x45000000
GLOBL expEnd<>(SB), RODATA|NOPTR, $4
DATA expLast<>+0(SB)/4, $0x44FFFFFF
GLOBL expLast<>(SB), RODATA|NOPTR, $4

// Of gelu8: geluLimit, -geluLimit, geluSteps, and 2*geluLimit*geluSteps.
DATA geluLimit<>+0(SB)/4, $0x40C00000
GLOBL geluLimit<>(SB), RODATA|NOPTR, $4
DATA geluLow<>+0(SB)/4, $0xC0C00000
GLOBL geluLow<>(SB), RODATA|NOPTR, $4
DATA geluSteps<>+0(SB)/4, $0x43800000
GLOBL geluSteps<>(SB), RODATA|NOPTR, $4
DATA geluLast<>+0(SB)/4, $0x45400000
GLOBL geluLast<>(SB), RODATA|NOPTR, $4

// INTERPOLATE replaces each number in Y0, a position in the table at R8, by the value there, between two entries. It uses Y2 to Y6.
#define INTERPOLATE \
	VCVTTPS2DQ Y0, Y2             \
	VCVTDQ2PS  Y2, Y3             \
	VSUBPS     Y3, Y0, Y0         \
	VPCMPEQD   Y4, Y4, Y4         \
	VGATHERDPS Y4, (R8)(Y2*4), Y5 \
	VPCMPEQD   Y4, Y4, Y4         \
	VGATHERDPS Y4, 4(R8)(Y2*4), Y6 \
	VSUBPS     Y5, Y6, Y6         \
	VMULPS     Y6, Y0, Y0         \
	VADDPS     Y0, Y5, Y0

// func largestAbs8(x *float32, n int) uint32
TEXT ·largestAbs8(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTD magnitude<>(SB), Y1
	VPXOR Y0, Y0, Y0

numbers:
	VPAND   (SI), Y1, Y2
	VPMAXUD Y2, Y0, Y0
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  numbers

	VEXTRACTI128 $1, Y0, X1
	VPMAXUD X1, X0, X0
	VPSHUFD $0x4E, X0, X1
	VPMAXUD X1, X0, X0
	VPSHUFD $0xB1, X0, X1
	VPMAXUD X1, X0, X0
	VMOVD   X0, AX
	MOVL    AX, ret+16(FP)
	VZEROUPPER
	RET

// func round8(out *int16, x *float32, n int, by float32)
TEXT ·round8(SB), NOSPLIT, $0-28
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS by+24(FP), Y1

numbers:
	VMULPS    (SI), Y1, Y0
	VCVTPS2DQ Y0, Y0 // to the nearest integer, ties to the even one
	VEXTRACTI128 $1, Y0, X2
	VPACKSSDW X2, X0, X0
	VMOVDQU   X0, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JNZ  numbers

	VZEROUPPER
	RET

// func scale8(out *float32, sums *int32, scales, bias *float32, n int, scale float32)
TEXT ·scale8(SB), NOSPLIT, $0-44
	MOVQ out+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ scales+16(FP), R8
	MOVQ bias+24(FP), R9
	MOVQ n+32(FP), CX
	VBROADCASTSS scale+40(FP), Y3
	XORQ AX, AX
	SHLQ $2, CX

numbers:
	VCVTDQ2PS (SI)(AX*1), Y0
	VMULPS    (R8)(AX*1), Y3, Y1
	VMULPS    Y1, Y0, Y0
	VADDPS    (R9)(AX*1), Y0, Y0
	VMOVUPS   Y0, (DI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, CX
	JNE  numbers

	VZEROUPPER
	RET

// func exp8(x *float32, n int, largest float32, table, sums *float32)
TEXT ·exp8(SB), NOSPLIT, $0-40
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS largest+16(FP), Y8
	MOVQ table+24(FP), R8
	MOVQ sums+32(FP), R9
	VBROADCASTSS expSteps<>(SB), Y9
	VBROADCASTSS expEnd<>(SB), Y10
	VBROADCASTSS expLast<>(SB), Y11
	VMOVUPS (R9), Y12

numbers:
	VSUBPS (SI), Y8, Y0
	VMULPS Y9, Y0, Y0
	VCMPPS $0x11, Y10, Y0, Y1 // those below the end of the table
	VMINPS Y11, Y0, Y0
	INTERPOLATE
	VANDPS     Y1, Y0, Y0
	VMOVUPS    Y0, (SI)
	VADDPS     Y0, Y12, Y12
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  numbers

	VMOVUPS Y12, (R9)
	VZEROUPPER
	RET

// func gelu8(x *float32, n int, table *float32)
TEXT ·gelu8(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ table+16(FP), R8
	VBROADCASTSS geluLimit<>(SB), Y8
	VBROADCASTSS geluLow<>(SB), Y9
	VBROADCASTSS geluSteps<>(SB), Y10
	VBROADCASTSS geluLast<>(SB), Y11
	VXORPS Y12, Y12, Y12

numbers:
	VMOVUPS (SI), Y7
	VADDPS  Y8, Y7, Y0
	VMULPS  Y10, Y0, Y0
	VMAXPS  Y12, Y0, Y0
	VMINPS  Y11, Y0, Y0
	INTERPOLATE
	VCMPPS     $0x1E, Y9, Y7, Y1 // above -geluLimit
	VANDPS     Y1, Y0, Y0
	VCMPPS     $0x1D, Y8, Y7, Y1 // at least geluLimit
	VBLENDVPS  Y1, Y7, Y0, Y0
	VMOVUPS    Y0, (SI)
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ  numbers

	VZEROUPPER
	RET
