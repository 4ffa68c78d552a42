/* ranks: 1 */
/* part: long */
/* args: 10000 */
/* timeout: 600 */
#include "often.c"
