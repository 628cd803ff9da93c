/* program_kinds.c: what a program is, and what it can do because of that. */
#include "run.h"

#define BIT(name) PROGRAM_CAN(name)
#define OURS      (BIT(FLAGS) | BIT(CHOOSE) | BIT(SUGGEST) | BIT(ANSWER))

static const struct program_kind criterion = {OURS | BIT(DEBUG)};
/* A process of MPI, in which testlog does not start a debugger. */
static const struct program_kind rank = {OURS};
static const struct program_kind script = {OURS | BIT(DEBUG) | BIT(HIDE)};
static const struct program_kind framework = {BIT(CHOOSE) | BIT(DEBUG)};
static const struct program_kind alone = {BIT(EXIT)};

const struct program_kind *runners_kind_of(const struct program *program)
{
    if (program->framework)
        return runners_framework_is_known(program->framework) ? &framework
                                                              : &alone;
    if (program->test)
        return &rank;
    return program->file.is_program ? &criterion : &script;
}

bool runners_can(const struct program *program, unsigned what)
{
    return program->kind && (program->kind->can & what) == what;
}

bool runners_runs_single_tests(const struct program *program)
{
    return runners_can(program, PROGRAM_CAN(CHOOSE)) &&
           !(runners_can(program, PROGRAM_CAN(FLAGS)) && program->flagless);
}
