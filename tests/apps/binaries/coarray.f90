! SPDX-License-Identifier: BSD-3-Clause
! Of binaries.test: a program of Fortran's coarrays, which OpenCoarrays' library makes calls of MPI's windows of.
program coarrays
  implicit none
  integer :: me, images, i, total
  integer :: ring(4)[*], counter[*]
  real :: field(10, 10)[*]
  integer, allocatable :: made(:)[:]
  me = this_image()
  images = num_images()
  ring = me
  counter = 0
  field = real(me)
  allocate (made(images)[*])
  made = 0
  sync all
  ring(2)[mod(me, images) + 1] = 10 * me
  do i = 1, images
    made(me)[i] = me * me
  end do
  field(2:9:2, 3)[mod(me, images) + 1] = field(1:4, 1) + 0.5
  sync all
  critical
    counter[1] = counter[1] + me
  end critical
  sync all
  total = ring(2) + sum(made)
  call co_sum(total)
  call co_max(i)
  if (me == 1) print '("images ", i0, ", total ", i0, ", counter ", i0, ", field ", f0.2, ", left ", i0)', images, total, &
    counter, sum(field), ring(2)[images]
  deallocate (made)
end program coarrays
