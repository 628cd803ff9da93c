"""compare.py PERFETTO CHROME: compares two traces of the same recordings: what
protoc --decode prints of Perfetto's, and Chrome's JSON. Prints what differs,
or how many slices, instants, counts and arrows are equal."""
import collections
import json
import re
import sys

WORKERS = 0x3FFFFFFF  # a process of Chrome's trace only


def parse(lines):
    """Returns a message as a dictionary of lists."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-2]].append(parse(lines))
            continue
        key, value = line.split(": ", 1)
        if key.isdigit():
            sys.exit(f"a field that the schema lacks: {line}")
        if value[0] == '"':
            raw = value[1:-1].encode().decode("unicode_escape")
            value = raw.encode("latin-1").decode("utf-8", "replace")
        elif re.fullmatch(r"-?\d+", value):
            value = int(value)
        message[key].append(value)
    return message


def one(message, key, default=None):
    return message[key][0] if message[key] else default


def annotations(event, names):
    result = {}
    for each in event["debug_annotations"]:
        name = names["debug_annotation_names", one(each, "name_iid")]
        kind, values = [(k, v) for k, v in each.items() if k != "name_iid"][0]
        result[name] = values[0]
        if kind == "pointer_value":
            result[name] = hex(values[0])
    return result


class Trace:
    """Slices, instants, counts and arrows, by the paths of their tracks."""

    def __init__(self):
        self.slices = collections.defaultdict(list)
        self.instants, self.counts, self.arrows = [], [], []
        self.fields = {}

    def add_slice(self, path, name, begin, end, fields):
        self.slices[path].append((begin, end, name))
        self.fields[path, begin, end, name] = fields

    def nested(self):
        """Slices with their depths, as Perfetto nests them."""
        result = []
        for path, slices in self.slices.items():
            around = []
            for begin, end, name in sorted(
                    slices, key=lambda each: (each[0], -each[1])):
                while around and around[-1] <= begin and around[-1] < end:
                    around.pop()
                result.append((path, begin, end, name, len(around)))
                around.append(end)
        return sorted(result)


def read_perfetto(path):
    trace, names, tracks, bases = Trace(), {}, {}, {}
    flows, open_slices = collections.defaultdict(list), {}
    events = []
    with open(path, encoding="utf-8") as file:
        packets = parse(file)["packet"]
    for packet in packets:
        sequence = one(packet, "trusted_packet_sequence_id")
        for clocks in packet["clock_snapshot"]:
            assert one(clocks, "primary_trace_clock") == 3
            bases[sequence] = [one(clock, "timestamp")
                               for clock in clocks["clocks"]
                               if one(clock, "clock_id") == 3][0]
        for track in packet["track_descriptor"]:
            assert one(track, "uuid") not in tracks
            tracks[one(track, "uuid")] = track
        for interned in packet["interned_data"]:
            for kind, each in interned.items():
                for entry in each:
                    names[sequence, kind, one(entry, "iid")] = entry
        if packet["track_event"]:
            events.append((one(packet, "timestamp") - bases[sequence],
                           sequence, packet["track_event"][0]))

    def path_of(uuid):
        track = tracks[uuid]
        parent = one(track, "parent_uuid")
        return (path_of(parent) if parent else ()) + (one(track, "name"),)

    run = path_of(1)
    for time, sequence, event in sorted(events, key=lambda each: each[0]):
        class Interned(dict):
            def __missing__(self, key):
                return one(names[(sequence,) + key], "name")
        where = path_of(one(event, "track_uuid"))
        assert where[:1] == run and len(where) > 1, where
        where = where[1:]
        kind = one(event, "type")
        name = one(event, "name")
        if event["name_iid"]:
            name = Interned()["event_names", one(event, "name_iid")]
        stack = open_slices.setdefault(where, [])
        if kind == "TYPE_SLICE_BEGIN":
            stack.append((time, name, annotations(event, Interned())))
        elif kind == "TYPE_SLICE_END":
            begin, name, fields = stack.pop()
            trace.add_slice(where, name, begin, time, fields)
        elif kind == "TYPE_INSTANT":
            trace.instants.append((where, time, name))
        else:
            value = one(event, "counter_value",
                        one(event, "double_counter_value"))
            trace.counts.append((where[-1], time, float(value)))
        for flow in event["flow_ids"]:
            flows[flow].append((where, time))
    assert not any(open_slices.values()), "a slice has no end"
    for ends in flows.values():
        assert len(ends) <= 2, "an arrow has several ends"
        if len(ends) == 2:
            trace.arrows.append(tuple(sorted(ends)))
    return trace


def read_chrome(path):
    trace, processes, threads = Trace(), {}, {}
    flows = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
    for event in events:
        if event["pid"] == WORKERS or event["ph"] == "M":
            continue
        name, test = processes[event["pid"]], None
        if " of " in name and name.startswith("GPU "):
            name, test = name.split(" of ", 1)
        where = ((test,) if test else ()) + (name,)
        thread = threads.get((event["pid"], event["tid"]))
        if thread != "test":  # its slice is on the track of the test
            where += (thread,)
        time = round(event["ts"] * 1000)
        if event["ph"] == "X":
            trace.add_slice(where, event["name"], time,
                            time + round(event["dur"] * 1000), event["args"])
        elif event["ph"] == "i":
            trace.instants.append((where, time, event["name"]))
        elif event["ph"] == "C":
            trace.counts.append((event["name"], time,
                                 float(event["args"][event["name"]])))
        else:
            flows[event["id"]].append((where, time))
    trace.arrows = [tuple(sorted(ends)) for ends in flows.values()]
    return trace


def compare(what, ours, theirs):
    ours, theirs = sorted(ours), sorted(theirs)
    if ours == theirs:
        print(f"{len(ours)} {what}")
        return
    for each in list(ours):
        if each in theirs:
            ours.remove(each)
            theirs.remove(each)
    print(f"{what}: only Perfetto has {ours[:5]}, only Chrome {theirs[:5]}")


def compare_fields(ours, theirs):
    fields = 0
    for key, own in ours.fields.items():
        for name, value in theirs.fields.get(key, {}).items():
            if isinstance(value, (int, str)) and name in own:
                fields += 1
                if str(value).lower() != str(own[name]).lower():
                    print(f"{key}: {name} is {own[name]}, not {value}")
    print(f"{fields} fields")


def main():
    perfetto, chrome = read_perfetto(sys.argv[1]), read_chrome(sys.argv[2])
    compare("slices", perfetto.nested(), chrome.nested())
    compare("instants", perfetto.instants, chrome.instants)
    compare("counts", perfetto.counts, chrome.counts)
    compare("arrows", perfetto.arrows, chrome.arrows)
    compare_fields(perfetto, chrome)


main()
