/* plugin.cpp: see plugin.c. */
#include "plugin.c"
