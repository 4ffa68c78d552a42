// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// Spawn and Spawn_multiple of MPI-2's C++.
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <mpicxx.h>

static int wrong;

static void expect(bool ok, const char *what)
{
    if (!ok) {
        std::fprintf(stderr, "rank %d: not so: %s\n", MPI::COMM_WORLD.Get_rank(), what);
        wrong = 1;
    }
}

static void meet(MPI::Intercomm &inter, int others)
{
    int one = 1, sum = 0;
    expect(inter.Get_remote_size() == others, "the size of the remote group");
    MPI::Intracomm all = inter.Merge(false);
    all.Allreduce(&one, &sum, 1, MPI::INT, MPI::SUM);
    expect(sum == others + MPI::COMM_WORLD.Get_size(), "a sum over both groups");
    all.Free();
    inter.Disconnect();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    MPI::Intercomm parent = MPI::Comm::Get_parent();
    int size = MPI::COMM_WORLD.Get_size();
    if (parent != MPI::COMM_NULL) {
        expect(argc == 2 && !std::strcmp(argv[1], size == 2 ? "one" : MPI::COMM_WORLD.Get_rank() == 0 ? "a" : "b"), "the arguments");
        meet(parent, parent.Get_remote_size());
    } else {
        const char *one[] = { "one", 0 }, *a[] = { "a", 0 }, *b[] = { "b", 0 };
        const char *commands[] = { argv[0], argv[0] }, **args[] = { a, b };
        const int procs[] = { 1, 2 };
        const MPI::Info infos[] = { MPI::INFO_NULL, MPI::INFO_NULL };
        int codes[3] = { -1, -1, -1 };
        MPI::Intercomm two = MPI::COMM_WORLD.Spawn(argv[0], one, 2, MPI::INFO_NULL, 0);
        meet(two, 2);
        MPI::Intercomm three = MPI::COMM_WORLD.Spawn_multiple(2, commands, args, procs, infos, 0, codes);
        expect(codes[0] == 0 && codes[1] == 0 && codes[2] == 0, "the codes");
        meet(three, 3);
    }
    MPI::Finalize();
    return wrong;
}
