/* The mode of this process: which ways of messages are closed because somebody needs more than the messages (mpid.h, MPID_Mode). */
#include "core.h"
#include "thread.h"

void MPID_Peers_retune(void)
{
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used) {
        MPID_Peer_tune(p);
        MPID_Peer_update(p);
    }
}

void MPID_Lanes_tune(void)
{
    bool alone = !mode_has(MPID_MODE_THREADED) || KU_BIAS_IN_FORCE;
    MPID_core.lanes = alone ? MPID_core.peers.n : 0;
}

void MPID_Mode(uint32_t bits, bool on)
{
    uint32_t mode = on ? MPID_core.mode | bits : MPID_core.mode & ~bits;
    if (mode == MPID_core.mode)
        return;
    MPID_core.mode = mode;
    ku_threaded = (mode & MPID_MODE_THREADED) != 0;
    if (ku_threaded)
        MPID_Thread_begin();
    MPID_Lanes_tune();
    if (!MPID_core.up)
        return;
    MPID_Peers_retune();
    MPID_Dev_take();
}
