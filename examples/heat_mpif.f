! SPDX-License-Identifier: BSD-3-Clause
C     Heat in a rod, in fixed form with mpif.h: as heat_mpi.f90.
C       mpifort -O2 -o heat heat_mpif.f && mpiexec -n 4 ./heat
      PROGRAM HEAT
      INCLUDE 'mpif.h'
      INTEGER CELLS, STEPS
      PARAMETER (CELLS = 1200, STEPS = 2000)
      INTEGER RANK, N, LEFT, RIGHT, FIRST, LAST, I, STEP, LINE, IERR
      INTEGER DIMS(1)
      LOGICAL PERIODS(1)
      DOUBLE PRECISION U(0:CELLS + 1), NEXT(CELLS), TOTAL
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N, IERR)
      DIMS(1) = N
      PERIODS(1) = .FALSE.
      CALL MPI_CART_CREATE(MPI_COMM_WORLD, 1, DIMS, PERIODS, .TRUE.,
     &     LINE, IERR)
      CALL MPI_COMM_RANK(LINE, RANK, IERR)
      CALL MPI_CART_SHIFT(LINE, 0, 1, LEFT, RIGHT, IERR)
      FIRST = CELLS * RANK / N + 1
      LAST = CELLS * (RANK + 1) / N
      DO 10 I = FIRST, LAST
         U(I) = 0
         IF (I .GT. CELLS / 3 .AND. I .LE. 2 * CELLS / 3) U(I) = 100
 10   CONTINUE
      DO 40 STEP = 1, STEPS
         U(FIRST - 1) = U(FIRST)
         U(LAST + 1) = U(LAST)
         CALL MPI_SENDRECV(U(FIRST), 1, MPI_DOUBLE_PRECISION, LEFT, 0,
     &        U(LAST + 1), 1, MPI_DOUBLE_PRECISION, RIGHT, 0, LINE,
     &        MPI_STATUS_IGNORE, IERR)
         CALL MPI_SENDRECV(U(LAST), 1, MPI_DOUBLE_PRECISION, RIGHT, 1,
     &        U(FIRST - 1), 1, MPI_DOUBLE_PRECISION, LEFT, 1, LINE,
     &        MPI_STATUS_IGNORE, IERR)
         DO 20 I = FIRST, LAST
            NEXT(I) = U(I) + 0.25D0 * (U(I - 1) - 2 * U(I) + U(I + 1))
 20      CONTINUE
         DO 30 I = FIRST, LAST
            U(I) = NEXT(I)
 30      CONTINUE
 40   CONTINUE
      TOTAL = 0
      DO 50 I = FIRST, LAST
         TOTAL = TOTAL + U(I)
 50   CONTINUE
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, TOTAL, 1, MPI_DOUBLE_PRECISION,
     &     MPI_SUM, LINE, IERR)
      IF (RANK .EQ. 0) PRINT '(A, F12.4)', 'heat in the rod: ', TOTAL
      CALL MPI_COMM_FREE(LINE, IERR)
      CALL MPI_FINALIZE(IERR)
      END
