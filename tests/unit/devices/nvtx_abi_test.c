/* nvtx_abi_test.c: compares our declarations of NVTX with NVIDIA's header. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"

#include "trace/devices/nvtx/nvtx_abi.h"

TestSuite(nvtx_abi, .init = devices_init);

/* Names of NVIDIA's, which only the toolkit's header declares. */
static const char code[] =
    "#include <stddef.h>\n"
    "#include <nvtx3/nvToolsExt.h>\n"
    "#include \"trace/devices/nvtx/nvtx_abi.h\"\n"
    "#define SAME(a, b) _Static_assert((a) == (b), #a)\n"
    "#define NVTX_X(name, number, functions) \\\n"
    "    SAME(NVTX_IN_##name, NVTX_CB_MODULE_##name); \\\n"
    "    SAME((functions) + 1, NVTX_CBID_##name##_SIZE);\n"
    "NVTX_MODULES(NVTX_X)\n"
    "#undef NVTX_X\n"
    "#define NVTX_X(module, name, number) \\\n"
    "    SAME(NVTX_##name, NVTX_CBID_##module##_##name);\n"
    "NVTX_FUNCTIONS(NVTX_X)\n"
    "#define AT(ours, a, theirs, b) \\\n"
    "    SAME(offsetof(struct ours, a), offsetof(theirs, b)); \\\n"
    "    SAME(sizeof(((struct ours *)0)->a), sizeof(((theirs *)0)->b))\n"
    "#define ATTRIBUTE(a, b) AT(nvtx_attributes, a, nvtxEventAttributes_t, b)\n"
    "ATTRIBUTE(version, version);\n"
    "ATTRIBUTE(size, size);\n"
    "ATTRIBUTE(category, category);\n"
    "ATTRIBUTE(color_type, colorType);\n"
    "ATTRIBUTE(color, color);\n"
    "ATTRIBUTE(payload_type, payloadType);\n"
    "ATTRIBUTE(payload, payload);\n"
    "ATTRIBUTE(text_type, messageType);\n"
    "ATTRIBUTE(text, message);\n"
    "SAME(sizeof(struct nvtx_attributes), sizeof(nvtxEventAttributes_t));\n"
    "#define RESOURCE(a, b) AT(nvtx_resource, a, nvtxResourceAttributes_t, b)\n"
    "RESOURCE(version, version);\n"
    "RESOURCE(size, size);\n"
    "RESOURCE(id_type, identifierType);\n"
    "RESOURCE(id, identifier);\n"
    "RESOURCE(text_type, messageType);\n"
    "RESOURCE(text, message);\n"
    "SAME(sizeof(struct nvtx_resource), sizeof(nvtxResourceAttributes_t));\n"
    "SAME(NVTX_RESOURCE_THREAD, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);\n"
    "AT(nvtx_callbacks, size, NvtxExportTableCallbacks, struct_size);\n"
    "AT(nvtx_callbacks, table, NvtxExportTableCallbacks, \n"
    "   GetModuleFunctionTable);\n"
    "AT(nvtx_version_info, size, NvtxExportTableVersionInfo, struct_size);\n"
    "AT(nvtx_version_info, version, NvtxExportTableVersionInfo, version);\n"
    "AT(nvtx_version_info, set_injection_version, \n"
    "   NvtxExportTableVersionInfo, SetInjectionNvtxVersion);\n"
    "SAME(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);\n"
    "SAME(NVTX_TABLE_VERSION, NVTX_ETID_VERSIONINFO);\n"
    "SAME(NVTX_IS_VERSION, NVTX_VERSION);\n"
    "SAME(NVTX_COLOR_IS_ARGB, NVTX_COLOR_ARGB);\n"
    "SAME(NVTX_TEXT_ASCII, NVTX_MESSAGE_TYPE_ASCII);\n"
    "SAME(NVTX_TEXT_WIDE, NVTX_MESSAGE_TYPE_UNICODE);\n"
    "SAME(NVTX_TEXT_HANDLE, NVTX_MESSAGE_TYPE_REGISTERED);\n"
    "SAME(NVTX_NUMBER_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);\n"
    "SAME(NVTX_NUMBER_I64, NVTX_PAYLOAD_TYPE_INT64);\n"
    "SAME(NVTX_NUMBER_F64, NVTX_PAYLOAD_TYPE_DOUBLE);\n"
    "SAME(NVTX_NUMBER_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);\n"
    "SAME(NVTX_NUMBER_I32, NVTX_PAYLOAD_TYPE_INT32);\n"
    "SAME(NVTX_NUMBER_F32, NVTX_PAYLOAD_TYPE_FLOAT);\n";

/* The toolkit has this header since CUDA 12. */
static const char payloads[] =
    "#include <nvtx3/nvToolsExtPayload.h>\n"
    "SAME(NVTX_PAYLOADS, NVTX_PAYLOAD_TYPE_EXT);\n"
    "SAME(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);\n"
    "#define NVTX_X(name, number) \\\n"
    "    SAME(NVTX_##name, NVTX3EXT_CBID_nvtx##name);\n"
    "NVTX_PAYLOAD_FUNCTIONS(NVTX_X)\n"
    "#undef NVTX_X\n"
    "AT(nvtx_segment, id, nvtxExtModuleSegment_t, segmentId);\n"
    "AT(nvtx_segment, count, nvtxExtModuleSegment_t, slotCount);\n"
    "AT(nvtx_segment, functions, nvtxExtModuleSegment_t, functionSlots);\n"
    "#define EXTENSION(a, b) AT(nvtx_extension, a, nvtxExtModuleInfo_t, b)\n"
    "EXTENSION(size, structSize);\n"
    "EXTENSION(module, moduleId);\n"
    "EXTENSION(segment_count, segmentsCount);\n"
    "EXTENSION(segments, segments);\n"
    "SAME(sizeof(struct nvtx_extension), sizeof(nvtxExtModuleInfo_t));\n"
    "#define DATA(a, b) AT(nvtx_payload, a, nvtxPayloadData_t, b)\n"
    "DATA(schema, schemaId);\n"
    "DATA(size, size);\n"
    "DATA(data, payload);\n"
    "#define ENTRY(a, b) AT(nvtx_schema_entry, a, nvtxPayloadSchemaEntry_t, "
    "b)\n"
    "ENTRY(flags, flags);\n"
    "ENTRY(type, type);\n"
    "ENTRY(name, name);\n"
    "ENTRY(length, arrayOrUnionDetail);\n"
    "ENTRY(offset, offset);\n"
    "SAME(sizeof(struct nvtx_schema_entry), "
    "sizeof(nvtxPayloadSchemaEntry_t));\n"
    "#define SCHEMA(a, b) \\\n"
    "    AT(nvtx_schema_attributes, a, nvtxPayloadSchemaAttr_t, b)\n"
    "SCHEMA(known, fieldMask);\n"
    "SCHEMA(name, name);\n"
    "SCHEMA(entries, entries);\n"
    "SCHEMA(count, numEntries);\n"
    "SCHEMA(alignment, packAlign);\n"
    "SCHEMA(id, schemaId);\n"
    "#define VALUE(a, b) AT(nvtx_enum_entry, a, nvtxPayloadEnum_t, b)\n"
    "VALUE(name, name);\n"
    "VALUE(value, value);\n"
    "SAME(sizeof(struct nvtx_enum_entry), sizeof(nvtxPayloadEnum_t));\n"
    "#define ENUM(a, b) AT(nvtx_enum_attributes, a, nvtxPayloadEnumAttr_t, b)\n"
    "ENUM(known, fieldMask);\n"
    "ENUM(entries, entries);\n"
    "ENUM(count, numEntries);\n"
    "ENUM(size, sizeOfEnum);\n"
    "ENUM(id, schemaId);\n"
    "SAME(NVTX_KNOWN_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);\n"
    "SAME(NVTX_KNOWN_ALIGNMENT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);\n"
    "SAME(NVTX_KNOWN_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);\n"
    "SAME(NVTX_KNOWN_ENUM_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);\n"
    "#define FLAG(a, b) SAME(NVTX_ENTRY_##a, NVTX_PAYLOAD_ENTRY_FLAG_##b)\n"
    "FLAG(POINTER, POINTER);\n"
    "FLAG(FIXED, ARRAY_FIXED_SIZE);\n"
    "FLAG(ENDED, ARRAY_ZERO_TERMINATED);\n"
    "FLAG(HIDDEN, HIDE);\n"
    "FLAG(MESSAGE, EVENT_MESSAGE);\n"
    "SAME(NVTX_ENTRY_OFFSETS, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |\n"
    "     NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);\n"
    "SAME(NVTX_TYPE_CHAR, NVTX_PAYLOAD_ENTRY_TYPE_CHAR);\n"
    "SAME(NVTX_TYPE_TEXT, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);\n"
    "SAME(NVTX_TYPE_TEXT_UTF8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);\n"
    "SAME(NVTX_TYPE_HANDLE,\n"
    "     NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);\n"
    "SAME(NVTX_TYPES_OWN, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);\n";

Test(nvtx_abi, agrees_with_the_header)
{
    char command[PATH_MAX * 4], root[PATH_MAX], header[PATH_MAX + 64];
    char payload[PATH_MAX + 64], all[sizeof(code) + sizeof(payloads)];

    if (!devices_toolkit(root))
        cr_skip("no CUDA toolkit");
    snprintf(header, sizeof(header), "%s/include/nvtx3/nvToolsExt.h", root);
    if (access(header, F_OK))
        cr_skip("the CUDA toolkit has no NVTX 3");
    snprintf(payload, sizeof(payload), "%s/include/nvtx3/nvToolsExtPayload.h",
             root);
    snprintf(all, sizeof(all), "%s%s", code,
             access(payload, F_OK) ? "" : payloads);
    test_save(test_path("abi.c"), all, strlen(all));
    snprintf(command, sizeof(command),
             "${CC:-cc} -fsyntax-only -I%s/include -I" SOURCE_DIR " %s", root,
             test_path("abi.c"));
    cr_expect_eq(system(command), 0);
}
