/* remove_tree.h: removes folders of the current user. Private. */
#ifndef TESTLOG_REMOVE_TREE_H
#define TESTLOG_REMOVE_TREE_H

/* test_log_open_own opens a folder of the current user, which is no link. -1
 * with errno; EPERM: it is another user's. */
int test_log_open_own(int dir, const char *name);

/* test_log_remove_tree removes a folder of the current user and what is in it.
 * It follows no link. -1 with errno. */
int test_log_remove_tree(int dir, const char *name);

#endif
