! SPDX-License-Identifier: BSD-3-Clause
! A program for another MPI's own Fortran wrapper, in one of three forms: FORM is 77 (mpif.h), 90 (mpi) or 8 (mpi_f08).  Run by
! openmpi-fortran.test and mpich-fortran.test on Keel's library; on that MPI's own it says the same.  Prints what was wrong, or "right".
! What not all versions have: LARGE (counts), SESSIONS, CONVERTED (statuses), AUTOMATIC (MPI_BUFFER_AUTOMATIC), PARTITIONED and
! WITHOUT_INFO, ADDRESS_BACK (of MPI_Buffer_detach, in all forms).
#if FORM == 8
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define FILEH type(MPI_File)
#define ERRHANDLER type(MPI_Errhandler)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define OF(s, field) s%field
#define OF_EACH(s, i, field) s(i)%field
#else
#define COMM integer
#define DATATYPE integer
#define GROUP integer
#define INFO integer
#define OP integer
#define REQUEST integer
#define FILEH integer
#define ERRHANDLER integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define OF(s, field) s(field)
#define OF_EACH(s, i, field) s(field, i)
#endif
#if FORM == 77
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif FORM == 90
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif

#if FORM == 8
subroutine add(from, to, n, datatype_of)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  type(c_ptr), value :: from, to
  integer :: n
  DATATYPE :: datatype_of
  integer, pointer :: x(:), y(:)
  call c_f_pointer(from, x, [n])
  call c_f_pointer(to, y, [n])
#else
subroutine add(x, y, n, datatype_of)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: n, x(n), y(n), datatype_of
#endif
  if (datatype_of /= MPI_INTEGER) stop 3
  y = x + y
end subroutine add

subroutine copies(old, key, extra, in, out, flag, ierror)
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: old
  integer :: key, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
  logical :: flag
  out = in + extra
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine copies

subroutine handles_error(of, code)
  USE_MPI
  implicit none
  INCLUDE_MPI
  COMM :: of
  integer :: code, class, ierror, seen
  common /seen_error/ seen
  call MPI_Error_class(code, class, ierror)
  seen = class
  if (of == MPI_COMM_NULL) seen = -1
end subroutine handles_error

program forms
  USE_MPI
  use, intrinsic :: iso_c_binding, only: c_ptr
  implicit none
  INCLUDE_MPI
  external :: add, copies, handles_error
  integer :: rank, ranks, wrong, total, ierror, seen, i, n, answer, left, right, key, x(4), y(4), lengths(2)
  integer :: places(1)
  integer(kind=MPI_ADDRESS_KIND) :: at(2), value, extra, lower, extent
  integer(kind=MPI_OFFSET_KIND) :: offset
  double precision :: d, e, before, room(1000)
#ifdef ADDRESS_BACK
#if FORM == 8
  type(c_ptr) :: place
#else
  integer(kind=MPI_ADDRESS_KIND) :: place
#endif
#endif
  logical :: flag, periods(1), keel
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=300) :: path
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  COMM :: other, cart, graph
  GROUP :: everybody
  DATATYPE :: made, types(2)
  OP :: operation
  INFO :: about
  FILEH :: f
  ERRHANDLER :: handler
  REQUEST :: requests(3)
  STATUS(one)
  STATUSES(many, 3)
  common /seen_error/ seen

  wrong = 0
  call MPI_Init(ierror)
  before = MPI_Wtime()
  call MPI_Get_library_version(version, n, ierror)
  keel = version(1:4) == 'Keel'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)

  ! statuses, and those that are ignored
  x = rank
  call MPI_Sendrecv(x, 3, MPI_INTEGER, right, 7, y, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, one, ierror)
  call check(OF(one, MPI_SOURCE) == left .and. OF(one, MPI_TAG) == 7 .and. y(3) == left, 'MPI_Sendrecv')
  call MPI_Get_count(one, MPI_INTEGER, n, ierror)
  call check(n == 3, 'MPI_Get_count')
  call MPI_Get_count(one, MPI_DOUBLE_COMPLEX, n, ierror)
  call check(n == MPI_UNDEFINED, 'MPI_Get_count of what it is not')
  call MPI_Recv(y, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, one, ierror)
  call check(OF(one, MPI_SOURCE) == MPI_PROC_NULL .and. OF(one, MPI_TAG) == MPI_ANY_TAG, 'MPI_PROC_NULL')
  call MPI_Irecv(y(1), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Irecv(y(2), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Isend(x, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(x, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  call MPI_Waitall(3, requests, many, ierror)
  call check(OF_EACH(many, 1, MPI_TAG) == 1 .and. OF_EACH(many, 2, MPI_TAG) == 2 .and. OF_EACH(many, 2, MPI_SOURCE) == left, &
             'MPI_Waitall')
  call check(requests(2) == MPI_REQUEST_NULL, 'a request that is done')
  call MPI_Irecv(y(1), 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Send(x, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(3, requests, i, MPI_STATUS_IGNORE, ierror)
  call check(i == 2 .or. .not. keel, 'MPI_Waitany') ! in MPICH's mpi_f08 it is 1
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)

  ! constants that are addresses
  x = [rank, 1, 1, 1]
  call MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(x(1) == ranks * (ranks - 1) / 2 .and. x(2) == ranks .and. x(3) == 1, 'MPI_IN_PLACE')
  d = rank
  x(1) = 5
  if (rank == 0) then
    d = 2.5d0
    x(1) = 6
  end if
  lengths = [1, 1]
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  ! Behind the assignments, and once more behind the broadcast: what no call names a compiler may set later, and need not read again.
  call MPI_Get_address(x, at(1), ierror)
  call MPI_Get_address(d, at(2), ierror)
  call MPI_Type_create_struct(2, lengths, at, types, made, ierror)
  call MPI_Type_commit(made, ierror)
  call MPI_Bcast(MPI_BOTTOM, 1, made, 0, MPI_COMM_WORLD, ierror)
  call MPI_Get_address(x, at(1), ierror)
  call MPI_Get_address(d, at(2), ierror)
  call check(x(1) == 6 .and. d == 2.5d0, 'MPI_BOTTOM')
  call MPI_Type_free(made, ierror)
  call check(made == MPI_DATATYPE_NULL, 'a datatype that was freed')
  places(1) = rank
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, places, MPI_UNWEIGHTED, 1, places, MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                      .false., graph, ierror)
  call MPI_Topo_test(graph, answer, ierror)
  call check(answer == MPI_DIST_GRAPH, 'MPI_UNWEIGHTED')
  call MPI_Comm_free(graph, ierror)

  ! functions that MPI calls
#if FORM == 8
  call user_functions()
#else
  call MPI_Op_create(add, .true., operation, ierror)
  x = rank + 1
  call MPI_Allreduce(x, y, 2, MPI_INTEGER, operation, MPI_COMM_WORLD, ierror)
  call check(y(2) == ranks * (ranks + 1) / 2, 'MPI_Op_create')
  call MPI_Op_free(operation, ierror)
  call check(operation == MPI_OP_NULL, 'an operation that was freed')
  extra = 5
  call MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, key, extra, ierror)
  value = 37
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, other, ierror)
  call MPI_Comm_get_attr(other, key, value, flag, ierror)
  call check(flag .and. value == 42, 'a function that copies an attribute')
  call MPI_Comm_create_errhandler(handles_error, handler, ierror)
  call MPI_Comm_set_errhandler(other, handler, ierror)
  call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, other, ierror)
  call check(seen == MPI_ERR_RANK, 'an error handler')
  call MPI_Errhandler_free(handler, ierror)
  call MPI_Comm_free(other, ierror)
#endif
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierror)
  value = 43
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, other, ierror)
  call MPI_Comm_get_attr(other, key, value, flag, ierror)
  call check(flag .and. value == 43, 'MPI_COMM_DUP_FN')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')

  ! errors
  call MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN, ierror)
  call MPI_Send(x, 1, MPI_INTEGER, 0, -5, other, ierror)
  call MPI_Error_class(ierror, answer, i)
  call check(answer == MPI_ERR_TAG, 'MPI_ERR_TAG')
  call MPI_Error_string(answer, text, n, ierror)
  call check(n > 0 .and. n <= len(text), 'MPI_Error_string')
  call MPI_Comm_free(other, ierror)
  call check(other == MPI_COMM_NULL, 'a communicator that was freed')

  ! groups, topologies, strings
  call MPI_Comm_group(MPI_COMM_WORLD, everybody, ierror)
  call MPI_Group_size(everybody, n, ierror)
  call check(n == ranks, 'MPI_Group_size')
  call MPI_Group_compare(everybody, MPI_GROUP_EMPTY, answer, ierror)
  call check(answer == MPI_UNEQUAL, 'MPI_Group_compare')
  call MPI_Group_free(everybody, ierror)
  periods = .true.
  places = ranks
  call MPI_Cart_create(MPI_COMM_WORLD, 1, places, periods, .false., cart, ierror)
  periods = .false.
  call MPI_Cart_get(cart, 1, places, periods, x, ierror)
  call check(periods(1) .and. x(1) == rank, 'MPI_Cart_get')
  call MPI_Cart_shift(cart, 0, 1, i, n, ierror)
  call check(i == left .and. n == right, 'MPI_Cart_shift')
  call MPI_Comm_free(cart, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 0), 0, other, ierror)
  call check((other == MPI_COMM_NULL) .eqv. rank == 0, 'MPI_Comm_split')
  if (other /= MPI_COMM_NULL) call MPI_Comm_free(other, ierror)
  call MPI_Get_processor_name(name, n, ierror)
  call check(len_trim(name) == n, 'MPI_Get_processor_name')
  call MPI_Info_create(about, ierror)
  call MPI_Info_set(about, 'key', 'some value', ierror)
  call MPI_Info_get(about, 'key', len(text), text, flag, ierror)
  call check(flag .and. text == 'some value', 'MPI_Info_get')
  call MPI_Info_free(about, ierror)

  ! datatypes and files
  call MPI_Type_get_extent(MPI_DOUBLE_PRECISION, lower, extent, ierror)
  call check(extent == 8, 'MPI_Type_get_extent')
  call MPI_Type_create_f90_real(15, 307, made, ierror)
  call MPI_Type_size(made, n, ierror)
  call check(n == 8, 'MPI_Type_create_f90_real')
  call get_environment_variable('TMPDIR', path)
  write (path, '(a, "/forms-", i0)') trim(path), rank
  call MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_File_open')
  e = 3.5d0
  offset = 16
  call MPI_File_write_at(f, offset, e, 1, MPI_DOUBLE_PRECISION, one, ierror)
  call MPI_Get_count(one, MPI_DOUBLE_PRECISION, n, ierror)
  call check(n == 1, 'MPI_File_write_at')
  call MPI_File_get_size(f, offset, ierror)
  call check(offset == 24, 'MPI_File_get_size')
  call MPI_File_close(f, ierror)
  call check(f == MPI_FILE_NULL, 'a file that was closed')

  ! what modules have of their own, and what MPI 4 has added
#if FORM != 77
  call sizes()
#endif
#if FORM == 8
  call handles()
  call types_of_the_module()
  call sections()
#ifdef CONVERTED
  call statuses()
#endif
#ifdef LARGE
  call large_counts()
#endif
#ifdef PARTITIONED
  if (keel) call partitions() ! Open MPI 5's ends with a signal
#endif
#endif
#ifdef AUTOMATIC
  if (keel) then ! MPICH's Fortran takes it for an address
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0, ierror)
    call MPI_Bsend(rank, 1, MPI_INTEGER, right, 33, MPI_COMM_WORLD, ierror)
    call MPI_Recv(n, 1, MPI_INTEGER, left, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call check(n == left .and. ierror == MPI_SUCCESS, 'MPI_BUFFER_AUTOMATIC')
  end if
#endif
  call MPI_Buffer_attach(room, size(room) * 8, ierror)
  call MPI_Bsend(rank, 1, MPI_INTEGER, right, 34, MPI_COMM_WORLD, ierror)
  call MPI_Recv(n, 1, MPI_INTEGER, left, 34, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call check(n == left, 'MPI_Bsend')
#ifdef ADDRESS_BACK
  call MPI_Buffer_detach(place, n, ierror)
  call MPI_Get_address(room, at(1), ierror)
  call check(n == size(room) * 8 .and. same_address(place, at(1)), 'MPI_Buffer_detach')
#elif FORM != 8
  call MPI_Buffer_detach(room, n, ierror)
  call check(n == size(room) * 8, 'MPI_Buffer_detach')
#endif
  call check(MPI_Wtime() >= before .and. MPI_Wtick() > 0, 'MPI_Wtime')

  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a, " of ", i0)', trim(merge('wrong', 'right', total > 0)), ranks
  call MPI_Finalize(ierror)

contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '("rank ", i0, ": ", a)', rank, what
  end subroutine check

#if FORM != 77
  ! The size of each kind, of scalars and of arrays.
  subroutine sizes()
    integer(kind=1) :: i1(2)
    integer(kind=2) :: i2(2)
    integer(kind=4) :: i4(2)
    integer(kind=8) :: i8(2)
    real(kind=4) :: r4(2)
    real(kind=8) :: r8(2)
    complex(kind=4) :: c4(2)
#if FORM == 8
    complex(kind=8) :: c8(2)
#endif
    logical :: l4(2)
    character(len=1) :: text
    integer :: s(18), error(18)
    s = -1
    error = -1
    call MPI_Sizeof(i1, s(1), error(1))
    call MPI_Sizeof(i1(1), s(2), error(2))
    call MPI_Sizeof(i2, s(3), error(3))
    call MPI_Sizeof(i2(1), s(4), error(4))
    call MPI_Sizeof(i4, s(5), error(5))
    call MPI_Sizeof(i4(1), s(6), error(6))
    call MPI_Sizeof(i8, s(7), error(7))
    call MPI_Sizeof(i8(1), s(8), error(8))
    call MPI_Sizeof(r4, s(9), error(9))
    call MPI_Sizeof(r4(1), s(10), error(10))
    call MPI_Sizeof(r8, s(11), error(11))
    call MPI_Sizeof(r8(1), s(12), error(12))
    call MPI_Sizeof(c4, s(13), error(13))
    call MPI_Sizeof(c4(1), s(14), error(14))
#if FORM == 8
    call MPI_Sizeof(c8, s(15), error(15))
#else
    s(15) = 16 ! MPICH 4.0's module mpi does not know it
    error(15) = MPI_SUCCESS
#endif
    call MPI_Sizeof(l4, s(16), error(16))
    call MPI_Sizeof(l4(1), s(17), error(17))
    call MPI_Sizeof(text, s(18), error(18))
    call check(all(s == [1, 1, 2, 2, 4, 4, 8, 8, 4, 4, 8, 8, 8, 8, 16, 4, 4, 1]), 'MPI_Sizeof')
    call check(all(error == MPI_SUCCESS), 'ierror of MPI_Sizeof')
  end subroutine sizes
#endif

#ifdef ADDRESS_BACK
  logical function same_address(pointer, number)
#if FORM == 8
    type(c_ptr), intent(in) :: pointer
#else
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: pointer
#endif
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: number
    same_address = transfer(pointer, number) == number
  end function same_address
#endif

#if FORM == 8
  ! Handles of each type are compared.
  subroutine handles()
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: datatype
    type(MPI_Errhandler) :: errhandler
    type(MPI_File) :: file
    type(MPI_Group) :: group
    type(MPI_Info) :: info
    type(MPI_Message) :: message
    type(MPI_Op) :: op
    type(MPI_Request) :: request
    type(MPI_Win) :: win
    integer :: memory(2)
    comm = MPI_COMM_SELF
    call check(comm == MPI_COMM_SELF .and. comm /= MPI_COMM_WORLD .and. .not. comm == MPI_COMM_NULL, 'communicators')
    datatype = MPI_REAL
    call check(datatype == MPI_REAL .and. datatype /= MPI_INTEGER .and. .not. datatype == MPI_DATATYPE_NULL, 'datatypes')
    errhandler = MPI_ERRORS_RETURN
    call check(errhandler == MPI_ERRORS_RETURN .and. errhandler /= MPI_ERRORS_ARE_FATAL, 'error handlers')
    call MPI_File_open(MPI_COMM_SELF, trim(path) // '.other', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, file)
    call check(file /= MPI_FILE_NULL .and. file == file, 'files')
    call MPI_File_close(file)
    group = MPI_GROUP_EMPTY
    call check(group == MPI_GROUP_EMPTY .and. group /= MPI_GROUP_NULL, 'groups')
    info = MPI_INFO_ENV
    call check(info == MPI_INFO_ENV .and. info /= MPI_INFO_NULL, 'infos')
    message = MPI_MESSAGE_NO_PROC
    call check(message == MPI_MESSAGE_NO_PROC .and. message /= MPI_MESSAGE_NULL, 'messages')
    op = MPI_MAX
    call check(op == MPI_MAX .and. op /= MPI_MIN .and. .not. op == MPI_OP_NULL, 'operations')
    call MPI_Irecv(memory, 1, MPI_INTEGER, rank, 35, MPI_COMM_WORLD, request)
    call check(request /= MPI_REQUEST_NULL .and. request == request, 'requests')
    call MPI_Send(rank, 1, MPI_INTEGER, rank, 35, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_create(memory, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call check(win /= MPI_WIN_NULL .and. win == win, 'windows')
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'a window that was freed')
#ifdef SESSIONS
    block
      type(MPI_Session) :: session
      integer :: value_of
      call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
      value_of = session%MPI_VAL
      call MPI_Session_finalize(session)
      call check(session%MPI_VAL /= value_of, 'a session that was finalized')
    end block
#endif
  end subroutine handles

  ! gfortran's description of a type is in the library of the module.
  subroutine types_of_the_module()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    class(*), allocatable :: copy
    call check(bits_of(MPI_COMM_WORLD) == 32 .and. bits_of(request) == 32, 'the type of a handle')
    call check(bits_of(status) == storage_size(status), 'the type of a status')
    allocate (copy, source=MPI_INTEGER)
    call check(bits_of(copy) == 32, 'the copy of a handle')
  end subroutine types_of_the_module

  integer function bits_of(x)
    class(*), intent(in) :: x
    bits_of = storage_size(x)
  end function bits_of

  ! Elements that lie apart, where the module has descriptors.
  subroutine sections()
    real :: m(6, 6), r(12), all_of(2 * 3 * 64)
    type(MPI_Request) :: both(2)
    type(MPI_Status) :: status
    integer :: k, count
    if (.not. MPI_SUBARRAYS_SUPPORTED) return
    m = reshape([(real(k + 100 * rank), k = 1, 36)], [6, 6])
    r = -1
    call MPI_Sendrecv(m(2, ::2), 3, MPI_REAL, right, 40, r(2:7:2), 3, MPI_REAL, left, 40, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_REAL, count)
    call check(count == 3 .and. all(r(2:6:2) == [2, 14, 26] + 100 * left), 'a section in MPI_Sendrecv')
    call check(all(r([1, 3, 5, 7, 8, 9, 10, 11, 12]) == -1), 'what is not in the section')
    r = -1
    call MPI_Irecv(r(1::4), 3, MPI_REAL, left, 41, MPI_COMM_WORLD, both(1))
    call MPI_Isend(m(1:3, 3), 3, MPI_REAL, right, 41, MPI_COMM_WORLD, both(2))
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
    call check(all(r(1::4) == [13, 14, 15] + 100 * left) .and. count_of(r, -1.0) == 9, 'a section in MPI_Irecv')
    r = rank
    call MPI_Bcast(r(12:1:-3), 4, MPI_REAL, ranks - 1, MPI_COMM_WORLD)
    call check(all(r(3::3) == ranks - 1) .and. count_of(r, real(rank)) == merge(12, 8, rank == ranks - 1), 'a section in MPI_Bcast')
    if (.not. keel) return ! MPICH describes several blocks, and what is reduced, as it does one block
    all_of = -1
    call MPI_Allgather(m(4, 1:5:2), 3, MPI_REAL, all_of(1:6 * ranks:2), 3, MPI_REAL, MPI_COMM_WORLD)
    call check(all(all_of(1:5:2) == [4, 16, 28]) .and. all_of(6 * ranks - 1) == 28 + 100 * (ranks - 1) .and. all_of(2) == -1, &
               'sections in MPI_Allgather')
    r = 1
    call MPI_Allreduce(MPI_IN_PLACE, r(1::2), 6, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call check(all(r(1::2) == ranks) .and. all(r(2::2) == 1), 'a section in MPI_Allreduce')
  end subroutine sections

  integer function count_of(array, value)
    real, intent(in) :: array(:), value
    count_of = count(array == value)
  end function count_of

#ifdef CONVERTED
  subroutine statuses()
    type(MPI_Status) :: status, again
    integer :: integers(MPI_STATUS_SIZE), n_of
    call MPI_Sendrecv(x, 2, MPI_INTEGER, right, 42, y, 2, MPI_INTEGER, left, 42, MPI_COMM_WORLD, status)
    call MPI_Status_f082f(status, integers)
    call check(integers(MPI_SOURCE) == left .and. integers(MPI_TAG) == 42, 'MPI_Status_f082f')
    call MPI_Status_f2f08(integers, again)
    call MPI_Get_count(again, MPI_INTEGER, n_of)
    call check(again%MPI_SOURCE == left .and. again%MPI_TAG == 42 .and. n_of == 2, 'MPI_Status_f2f08')
  end subroutine statuses
#endif

#ifdef LARGE
  subroutine large_counts()
    type(MPI_Status) :: status
    type(MPI_Datatype) :: pairs
    integer(kind=MPI_COUNT_KIND) :: big, integers_of, addresses_of, counts_of, types_of
    integer :: four(4), combiner
    call MPI_Sendrecv([rank, 1, 2, 3], 4_MPI_COUNT_KIND, MPI_INTEGER, right, 43, four, 4_MPI_COUNT_KIND, MPI_INTEGER, left, 43, &
                      MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, big)
    call check(big == 4 .and. four(1) == left .and. four(4) == 3, 'a large count')
    call MPI_Type_contiguous(2_MPI_COUNT_KIND**33, MPI_INTEGER, pairs)
    call MPI_Type_size(pairs, big)
    call check(big == 2_MPI_COUNT_KIND**35, 'a large datatype')
    call MPI_Type_get_envelope(pairs, integers_of, addresses_of, counts_of, types_of, combiner)
    call check(counts_of == 1 .and. types_of == 1 .and. combiner == MPI_COMBINER_CONTIGUOUS, 'the envelope of a large datatype')
    call MPI_Type_free(pairs)
  end subroutine large_counts
#endif

#ifdef PARTITIONED
#ifdef WITHOUT_INFO
#define INFO_THERE
#else
#define INFO_THERE MPI_INFO_NULL,
#endif
  subroutine partitions()
    integer, asynchronous :: from(4), to(4)
    type(MPI_Request) :: both(2)
    integer :: part
    from = [1, 2, 3, 4] + 10 * rank
    to = -1
    call MPI_Psend_init(from, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, right, 44, MPI_COMM_WORLD, INFO_THERE both(1))
    call MPI_Precv_init(to, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, left, 44, MPI_COMM_WORLD, INFO_THERE both(2))
    call MPI_Startall(2, both)
    do part = 0, 1
      call MPI_Pready(part, both(1))
    end do
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
    call check(all(to == [1, 2, 3, 4] + 10 * left), 'partitioned messages')
    call MPI_Request_free(both(1))
    call MPI_Request_free(both(2))
  end subroutine partitions
#endif

  ! These need explicit interfaces there.
  subroutine user_functions()
    procedure(MPI_User_function) :: add
    procedure(MPI_Comm_copy_attr_function) :: copies
    procedure(MPI_Comm_errhandler_function) :: handles_error
    call MPI_Op_create(add, .true., operation, ierror)
    x = rank + 1
    call MPI_Allreduce(x, y, 2, MPI_INTEGER, operation, MPI_COMM_WORLD, ierror)
    call check(y(2) == ranks * (ranks + 1) / 2, 'MPI_Op_create')
    call MPI_Op_free(operation)
    call check(operation == MPI_OP_NULL, 'an operation that was freed')
    extra = 5
    call MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, key, extra)
    value = 37
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
    call MPI_Comm_dup(MPI_COMM_WORLD, other)
    call MPI_Comm_get_attr(other, key, value, flag)
    call check(flag .and. value == 42, 'a function that copies an attribute')
    call MPI_Comm_create_errhandler(handles_error, handler)
    call MPI_Comm_set_errhandler(other, handler)
    call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, other)
    call check(seen == MPI_ERR_RANK, 'an error handler')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(other)
  end subroutine user_functions
#endif
end program forms
