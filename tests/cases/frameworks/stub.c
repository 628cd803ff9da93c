/* stub.c: a program of the smallest test framework: two tests, which it lists,
 * chooses and reports. Its row is in e2e_frameworks_test.c. */
#include <stdio.h>
#include <string.h>

const char stub_help[] = "STUB_FRAMEWORK: --list, --only=TEST, --xml=FILE";

static const char *const tests[] = {"fails", "passes"};

int main(int argc, char **argv)
{
    FILE *report = NULL;
    unsigned chosen = 0;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--list"))
            return puts("fails\npasses") < 0;
        if (!strncmp(argv[i], "--xml=", 6))
            report = fopen(argv[i] + 6, "w");
        for (unsigned k = 0; k < 2; k++)
            if (!strncmp(argv[i], "--only=", 7) &&
                !strcmp(argv[i] + 7, tests[k]))
                chosen |= 1u << k;
    }
    if (!report)
        return 3;
    fputs("<testsuites>", report);
    for (unsigned k = 0; k < 2; k++) {
        if (chosen && !(chosen & 1u << k))
            continue;
        fprintf(report, "<testcase name=\"%s\" time=\"0.5\">", tests[k]);
        if (!k)
            fputs("<failure message=\"stub.c:7: on purpose\"/>", report);
        fputs("</testcase>", report);
        failed |= !k;
    }
    fputs("</testsuites>\n", report);
    return fclose(report) ? 3 : failed;
}
