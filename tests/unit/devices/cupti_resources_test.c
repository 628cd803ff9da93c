/* cupti_resources_test.c: notes devices, contexts and streams as metadata. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_resources, .init = devices_init);

Test(cupti_resources, notes_devices_contexts_and_streams)
{
    struct trace_reader *reader;

    devices_play("plain");
    devices_begin();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "device.0"), "NVIDIA H200");
    cr_expect_str_eq(devices_meta(reader, "device.0.compute_capability"),
                     "9.0");
    cr_expect_str_eq(devices_meta(reader, "device.0.memory"), "161061273600");
    cr_expect_str_eq(devices_meta(reader, "device.0.l2"), "52428800");
    cr_expect_str_eq(devices_meta(reader, "device.0.clock_khz"), "1980000");
    cr_expect_str_eq(devices_meta(reader, "device.0.multiprocessors"), "132");
    cr_expect_str_eq(devices_meta(reader, "device.0.uuid"),
                     "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    cr_expect_str_eq(devices_meta(reader, "device.0.mig"), "");
    cr_expect_str_eq(devices_meta(reader, "context.1"), "device 0");
    cr_expect_str_eq(devices_meta(reader, "stream.1.7"), "priority 0");
}

/* ---- Single records ---- */

static char notes[1024];

static void keep_note(void *context, const char *name, const char *value)
{
    size_t size = strlen(notes);

    (void)context;
    snprintf(notes + size, sizeof(notes) - size, "%s=%s\n", name, value);
}

static const char *notes_of(const uint8_t *bytes, size_t size)
{
    static const struct cupti_sink sink = {.note = keep_note};
    struct cupti_record record = {bytes, size, bytes[0]};

    cupti.decoder.source = &cupti_process;
    cupti.decoder.sink = &sink;
    notes[0] = '\0';
    cupti_note_resource(&cupti.decoder, &record);
    return notes;
}

Test(cupti_resources, notes_a_part_of_a_device)
{
    uint8_t bytes[184] = {CUPTI_KIND_DEVICE};

    memset(bytes + 120, 0x11, 16);
    bytes[145] = 1;
    bytes[152] = 3;
    bytes[156] = 4;
    memset(bytes + 160, 0x22, 16);
    e2e_expect_has(notes_of(bytes, 184),
                   "gpu.device.0.uuid="
                   "GPU-11111111-1111-1111-1111-111111111111\n"
                   "gpu.device.0.mig="
                   "MIG-22222222-2222-2222-2222-222222222222\n"
                   "gpu.device.0.mig.gpu_instance=3\n"
                   "gpu.device.0.mig.compute_instance=4\n");
    e2e_expect_lacks(notes_of(bytes, 160), "mig");
    e2e_expect_lacks(notes_of(bytes, 128), "uuid");
}

static const char *notes_of_event(uint64_t time)
{
    uint64_t words[7] = {CUPTI_KIND_CUDA_EVENT, 0, 0, 0, 0, time};
    struct cupti_record record = {(const uint8_t *)words, sizeof(words),
                                  CUPTI_KIND_CUDA_EVENT};

    cr_expect_not(cupti_is_activity(&cupti.decoder, &record));
    return notes_of((const uint8_t *)words, sizeof(words));
}

Test(cupti_resources, notes_once_that_events_have_another_clock)
{
    const uint64_t other = UINT64_C(1) << 60;

    cr_expect_str_eq(notes_of_event(0), "");
    cr_expect_str_eq(notes_of_event(other), "gpu.event_clock=foreign\n");
    cr_expect_str_eq(notes_of_event(other), "");
}

Test(cupti_resources, finds_the_pci_address_of_a_device)
{
    static const char uuid[] = "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf";
    char address[CUPTI_PCI_ROOM];
    const char *folder = test_path("");

    cr_assert_not(mkdir(test_path("0000:1b:00.0"), 0700) ||
                  mkdir(test_path("0000:2c:00.0"), 0700) ||
                  mkdir(test_path("empty"), 0700));
    test_save(test_path("0000:1b:00.0/information"), "GPU UUID: GPU-b0b1", 18);
    cr_expect_not(cupti_pci_address(folder, uuid, address));
    test_save(test_path("0000:2c:00.0/information"),
              "Model: \t\t NVIDIA H200\n"
              "GPU UUID: \t GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf\n",
              76);
    cr_expect(cupti_pci_address(folder, uuid, address));
    cr_expect_str_eq(address, "0000:2c:00.0");
    cr_expect_not(cupti_pci_address("/nonexistent", uuid, address));
}
