// SPDX-License-Identifier: BSD-3-Clause
// Heat in a bar, with the C++ bindings of MPI-2: each rank has a part of the bar, and exchanges its ends with its neighbors.
//
//     mpicxx -O2 -o heat_cxx heat_cxx.cpp
//     mpiexec -n 4 ./heat_cxx
#include <mpicxx.h>
#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char **argv)
{
    const int cells = 400, steps = 4000;
    const bool open_ends[1] = { false };
    MPI::Init(argc, argv);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        int dims[1] = { 0 }, left, right;
        MPI::Compute_dims(MPI::COMM_WORLD.Get_size(), 1, dims);
        MPI::Cartcomm bar = MPI::COMM_WORLD.Create_cart(1, dims, open_ends, true);
        bar.Shift(0, 1, left, right);
        const int size = bar.Get_size(), rank = bar.Get_rank();
        const int first = cells * rank / size, mine = cells * (rank + 1) / size - first;

        // The ends of the bar have 1 and 0 degrees, its inner cells 0 at the start.
        std::vector<double> t(mine + 2, 0.0), next(mine + 2, 0.0);
        if (left == MPI::PROC_NULL)
            t[0] = next[0] = 1.0;
        MPI::Prequest halo[2][4];
        std::vector<double> *of[2] = { &t, &next };
        for (int i = 0; i < 2; i++) {
            double *x = &(*of[i])[0];
            halo[i][0] = bar.Recv_init(x, 1, MPI::DOUBLE, left, 0);
            halo[i][1] = bar.Recv_init(x + mine + 1, 1, MPI::DOUBLE, right, 1);
            halo[i][2] = bar.Send_init(x + 1, 1, MPI::DOUBLE, left, 1);
            halo[i][3] = bar.Send_init(x + mine, 1, MPI::DOUBLE, right, 0);
        }
        for (int step = 0; step < steps; step++) {
            std::vector<double> &now = *of[step % 2], &then = *of[1 - step % 2];
            MPI::Prequest::Startall(4, halo[step % 2]);
            MPI::Request::Waitall(4, halo[step % 2]);
            for (int i = 1; i <= mine; i++)
                then[i] = now[i] + 0.4 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        }
        double heat = 0, all = 0;
        for (int i = 1; i <= mine; i++)
            heat += t[i];
        bar.Reduce(&heat, &all, 1, MPI::DOUBLE, MPI::SUM, 0);
        if (rank == 0) {
            // In a long bar the heat that came in is 2 sqrt(k t / pi).
            double expected = 2 * std::sqrt(0.4 * steps / 3.14159265358979);
            std::printf("heat after %d steps: %.4f; theory says %.4f\n", steps, all, expected);
            if (std::fabs(all - expected) > 0.02 * expected)
                MPI::COMM_WORLD.Abort(1);
        }
        for (int i = 0; i < 8; i++)
            halo[i / 4][i % 4].Free();
        bar.Free();
    } catch (MPI::Exception &e) {
        std::fprintf(stderr, "MPI: %s\n", e.Get_error_string());
        MPI::COMM_WORLD.Abort(1);
    }
    MPI::Finalize();
    return 0;
}
