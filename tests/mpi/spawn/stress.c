/* ranks: 2 5 */
/* args: 12 3 0 */
#include "stress.h"
