/* SPDX-License-Identifier: BSD-3-Clause */
/* A KEEL_ variable that does not exist is told once, with the nearest that does; the program runs. */
/* ranks: 1 4 */
/* env: KEEL_SPIN_UZ=5 */
/* stderr: KEEL_SPIN_UZ.*KEEL_SPIN_US */
#include "../check.h"

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    return check_done();
}
