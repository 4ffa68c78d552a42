/* ranks: 16 */
/* part: long */
/* timeout: 300 */
#include "atomic.c"
