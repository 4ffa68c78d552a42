! A program for another MPI's own Fortran wrapper, in one of three forms: FORM is 77 (mpif.h), 90 (mpi) or 8 (mpi_f08).  Run by
! openmpi-fortran.test and mpich-fortran.test on Keel's library; on that MPI's own it says the same.  Prints what was wrong, or "right".
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
  implicit none
  INCLUDE_MPI
  external :: add, copies, handles_error
  integer :: rank, ranks, wrong, all, ierror, seen, i, n, answer, left, right, key, x(4), y(4), lengths(2)
  integer :: places(1)
  integer(kind=MPI_ADDRESS_KIND) :: at(2), value, extra, lower, extent
  integer(kind=MPI_OFFSET_KIND) :: offset
  double precision :: d, e, before
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
  call MPI_Get_address(x, at(1), ierror)
  call MPI_Get_address(d, at(2), ierror)
  lengths = [1, 1]
  types = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  call MPI_Type_create_struct(2, lengths, at, types, made, ierror)
  call MPI_Type_commit(made, ierror)
  x(1) = 5
  if (rank == 0) then
    d = 2.5d0
    x(1) = 6
  end if
  call MPI_Bcast(MPI_BOTTOM, 1, made, 0, MPI_COMM_WORLD, ierror)
  call check((x(1) == 6 .and. d == 2.5d0) .or. .not. keel, 'MPI_BOTTOM') ! Debian's MPICH 4.2.1 takes mpif.h's for a buffer
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
#if FORM != 77
  call MPI_Sizeof(d, n, ierror)
  call check(n == 8, 'MPI_Sizeof')
#endif
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
  call check(MPI_Wtime() >= before .and. MPI_Wtick() > 0, 'MPI_Wtime')

  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a, " of ", i0)', trim(merge('wrong', 'right', all > 0)), ranks
  call MPI_Finalize(ierror)

contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '("rank ", i0, ": ", a)', rank, what
  end subroutine check

#if FORM == 8
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
