! SPDX-License-Identifier: BSD-3-Clause
! Attributes of communicators, datatypes and windows, with functions of the program; error handlers of each kind, classes and codes.
#include "form.inc"
module attr_functions
    USE_MPI
    implicit none
    integer :: copies = 0, deletions = 0, handled = 0, last = 0
contains
    subroutine copy_attr(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Comm) :: oldcomm
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
        logical :: flag
        copies = copies + 1
        value_out = value_in + extra_state
        flag = value_in /= 0 .and. oldcomm /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID
        ierror = MPI_SUCCESS
    end subroutine
    subroutine delete_attr(comm, keyval, value, extra_state, ierror)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Comm) :: comm
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
        deletions = deletions + 1
        ierror = MPI_SUCCESS
        if (value == 13 .or. extra_state /= 100 .or. comm == MPI_COMM_NULL .or. keyval == MPI_KEYVAL_INVALID) ierror = MPI_ERR_OTHER
    end subroutine
    subroutine copy_type(oldtype, keyval, extra_state, value_in, value_out, flag, ierror)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Datatype) :: oldtype
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
        logical :: flag
        value_out = -value_in * extra_state
        flag = oldtype == MPI_REAL .and. keyval /= MPI_KEYVAL_INVALID
        ierror = MPI_SUCCESS
    end subroutine
    subroutine delete_win(win, keyval, value, extra_state, ierror)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Win) :: win
        integer :: keyval, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
        if (win /= MPI_WIN_NULL .and. keyval /= MPI_KEYVAL_INVALID) deletions = deletions + int(value + extra_state)
        ierror = MPI_SUCCESS
    end subroutine
    subroutine of_comm(comm, code)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Comm) :: comm
        integer :: code, ierr
        if (comm /= MPI_COMM_NULL) handled = handled + 1
        call MPI_Error_class(code, last, ierr)
    end subroutine
    subroutine of_win(win, code)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_Win) :: win
        integer :: code, ierr
        if (win /= MPI_WIN_NULL) handled = handled + 10
        call MPI_Error_class(code, last, ierr)
    end subroutine
    subroutine of_file(file, code)
#if FORM == 0
        include 'mpif.h'
#endif
        HANDLE(MPI_File) :: file
        integer :: code, ierr
        if (file == MPI_FILE_NULL) handled = handled + 100
        call MPI_Error_class(code, last, ierr)
    end subroutine
end module

subroutine attributes()
    USE_MPI
    use checking
    use attr_functions
    implicit none
#if FORM == 0
    include 'mpif.h'
#endif
    integer :: ierr
    call attributes_of_comms()
    call attributes_of_others()
    call handlers()
    call codes()
contains
    subroutine attributes_of_comms()
        HANDLE(MPI_Comm) :: comm, again
        integer :: key, plain, class, status
        integer(kind=MPI_ADDRESS_KIND) :: value
        logical :: flag
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_create_keyval(copy_attr, delete_attr, key, 100_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, 0_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_get_attr(comm, key, value, flag, ierr)
        call check(.not. flag, 'no attribute yet')
        call MPI_Comm_set_attr(comm, key, 2_MPI_ADDRESS_KIND**40, ierr)
        call MPI_Comm_set_attr(comm, plain, -3_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_dup(comm, again, ierr)
        call MPI_Comm_get_attr(again, key, value, flag, ierr)
        call check(flag .and. value == 2_MPI_ADDRESS_KIND**40 + 100 .and. copies == 1, 'a copy')
        call MPI_Comm_get_attr(again, plain, value, flag, ierr)
        call check(flag .and. value == -3, 'MPI_COMM_DUP_FN')
        call MPI_Comm_free(again, ierr)
        call check(deletions == 1, 'deleted with its communicator')
        call MPI_Comm_set_attr(comm, key, 0_MPI_ADDRESS_KIND, ierr)
        call check(deletions == 2, 'replaced')
        call MPI_Comm_dup(comm, again, ierr)
        call MPI_Comm_get_attr(again, key, value, flag, ierr)
        call check(.not. flag .and. copies == 2, 'a function that copies nothing')
        call MPI_Comm_free(again, ierr)
        ! A deletion that fails is the result of the call.
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
        call MPI_Comm_set_attr(comm, key, 13_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_delete_attr(comm, key, ierr)
        call MPI_Error_class(ierr, class, status)
        call check(class == MPI_ERR_OTHER, 'a deletion that fails')
        call MPI_Comm_set_attr(comm, plain, 1_MPI_ADDRESS_KIND, ierr)
        call MPI_Comm_free_keyval(plain, ierr)
        call check(plain == MPI_KEYVAL_INVALID, 'a key that was freed')
        call MPI_Comm_get_attr(comm, MPI_UNIVERSE_SIZE, value, flag, ierr)
        if (flag) call check(value >= 1, 'MPI_UNIVERSE_SIZE')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierr)
        if (flag) call check(value == 0 .or. value == 1, 'MPI_WTIME_IS_GLOBAL')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    end subroutine

    subroutine attributes_of_others()
        HANDLE(MPI_Datatype) :: type
        HANDLE(MPI_Win) :: win
        integer :: key, memory(4), before
        integer(kind=MPI_ADDRESS_KIND) :: value
        logical :: flag
        call MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, key, 3_MPI_ADDRESS_KIND, ierr)
        call MPI_Type_set_attr(MPI_REAL, key, 7_MPI_ADDRESS_KIND, ierr)
        call MPI_Type_dup(MPI_REAL, type, ierr)
        call MPI_Type_get_attr(type, key, value, flag, ierr)
        call check(flag .and. value == -21, 'an attribute of a datatype')
        call MPI_Type_free(type, ierr)
        call MPI_Type_delete_attr(MPI_REAL, key, ierr)
        call MPI_Type_get_attr(MPI_REAL, key, value, flag, ierr)
        call check(.not. flag, 'deleted')
        call MPI_Type_free_keyval(key, ierr)
        before = deletions
        call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
        call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, key, 20_MPI_ADDRESS_KIND, ierr)
        call MPI_Win_set_attr(win, key, 5_MPI_ADDRESS_KIND, ierr)
        call MPI_Win_get_attr(win, key, value, flag, ierr)
        call check(flag .and. value == 5, 'an attribute of a window')
        call MPI_Win_free_keyval(key, ierr)
        call MPI_Win_free(win, ierr)
        call check(deletions == before + 25, 'deleted with its window')
    end subroutine

    subroutine handlers()
        HANDLE(MPI_Errhandler) :: handler, got
        HANDLE(MPI_Comm) :: comm
        HANDLE(MPI_Win) :: win
        HANDLE(MPI_File) :: file
        integer :: memory(4), one
        one = 1
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_create_errhandler(of_comm, handler, ierr)
        call MPI_Comm_set_errhandler(comm, handler, ierr)
        call MPI_Comm_get_errhandler(comm, got, ierr)
        call check(got == handler, 'the handler of a communicator')
        call MPI_Errhandler_free(got, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call check(handler == MPI_ERRHANDLER_NULL, 'a handler that was freed')
        call MPI_Send(one, 1, MPI_INTEGER, n, 0, comm, ierr)
        call check(handled == 1 .and. last == MPI_ERR_RANK .and. ierr /= MPI_SUCCESS, 'an error of a communicator')
        call MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY, ierr)
        call check(handled == 2 .and. last == MPI_ERR_TOPOLOGY, 'called for a communicator')
        call MPI_Comm_free(comm, ierr)
        call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
        call MPI_Win_create_errhandler(of_win, handler, ierr)
        call MPI_Win_set_errhandler(win, handler, ierr)
        call MPI_Win_get_errhandler(win, got, ierr)
        call check(got == handler, 'the handler of a window')
        call MPI_Errhandler_free(got, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call MPI_Win_fence(0, win, ierr)
        call MPI_Put(one, 1, MPI_INTEGER, n + 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
        call check(handled == 12 .and. last == MPI_ERR_RANK, 'an error of a window')
        call MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC, ierr)
        call check(handled == 22 .and. last == MPI_ERR_RMA_SYNC, 'called for a window')
        call MPI_Win_fence(0, win, ierr)
        call MPI_Win_free(win, ierr)
        ! The handler of MPI_FILE_NULL is that of files which cannot be opened.
        call MPI_File_create_errhandler(of_file, handler, ierr)
        call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierr)
        call MPI_File_get_errhandler(MPI_FILE_NULL, got, ierr)
        call check(got == handler, 'the handler of files')
        call MPI_Errhandler_free(got, ierr)
        call MPI_File_open(MPI_COMM_SELF, '/nowhere/nothing', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
        call check(handled == 122 .and. last == MPI_ERR_NO_SUCH_FILE, 'a file that is not there')
        call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_QUOTA, ierr)
        call check(handled == 222 .and. last == MPI_ERR_QUOTA, 'called for files')
        call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call MPI_File_open(MPI_COMM_SELF, '/nowhere/nothing', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
        call check(handled == 222 .and. ierr /= MPI_SUCCESS, 'returned')
    end subroutine

    subroutine codes()
        integer :: class, code, length, got
        integer(kind=MPI_ADDRESS_KIND) :: value
        character(len=MPI_MAX_ERROR_STRING) :: text
        logical :: flag
        call MPI_Add_error_class(class, ierr)
        call MPI_Add_error_code(class, code, ierr)
        call MPI_Add_error_string(code, 'out of luck  ', ierr)
        call MPI_Error_string(code, text, length, ierr)
        call check(text == 'out of luck' .and. length == 11, 'a text of the program')
        call MPI_Error_class(code, got, ierr)
        call check(got == class, 'a class of the program')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr)
        call check(flag .and. value >= code, 'MPI_LASTUSEDCODE')
        call MPI_Error_string(MPI_ERR_TRUNCATE, text, length, ierr)
        call check(length > 0 .and. len_trim(text) == length, 'a text of the library')
        call MPI_Remove_error_string(code, ierr)
        call MPI_Remove_error_code(code, ierr)
        call MPI_Remove_error_class(class, ierr)
        call check(ierr == MPI_SUCCESS, 'removed')
    end subroutine
end subroutine
