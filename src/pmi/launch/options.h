/* options.h: pieces of the command line's reader. */
#ifndef OPTIONS_H
#define OPTIONS_H

/* configfile.c: if the words are `-configfile F`, the words of the file, its lines joined by ':' (as the
 * standard has it); else the same words.  NULL with a message said if it cannot be read. */
char **config_file(char **argv);

#endif
