"""shard_files.py FILE [whole]: checks a file of examples/shards/ and prints the
shell commands of its shards, a line for each shard. With "whole", the commands
that install testlog come first, once, and those of the job that merges last.

The keys are those that the schedulers document. No schema is checked: neither
GitHub's, GitLab's nor Kubernetes' is in Debian.
"""
import re
import shlex
import sys

import yaml


class Only(dict):
    """A mapping that fails for keys that nobody knows."""

    def __init__(self, mapping, *known):
        unknown = set(mapping) - set(known)
        if unknown:
            sys.exit(f"unknown keys: {sorted(map(str, unknown))}")
        super().__init__(mapping)


whole = sys.argv[2:] == ["whole"]


def line(variables, commands):
    settings = " ".join(f"{name}={shlex.quote(value)}"
                        for name, value in variables.items())
    tests = [command for command in commands if "testlog run" in command]
    assert len(tests) == 1, commands
    shown = "; ".join(commands) if whole else tests[0]
    print(f"(export {settings}; {shown})")


def once(commands):
    if whole:
        print("\n".join(commands))


def expand(text, shard):
    return text.replace("${{ matrix.shard }}", str(shard))


def installs(commands):
    """Checks that a job installs testlog before it runs it."""
    runs = [i for i, one in enumerate(commands) if one.startswith("testlog ")]
    [place] = [i for i, one in enumerate(commands) if "install" in one
               and "deps" in one]
    assert runs and place < min(runs), commands


def commands_of(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def github(file):
    # YAML 1.1 reads the key "on" as true.
    file = Only(file, "name", True, "jobs")
    assert file[True] == ["push"]
    jobs = Only(file["jobs"], "shard", "merge")
    shard = Only(jobs["shard"], "runs-on", "strategy", "steps")
    strategy = Only(shard["strategy"], "fail-fast", "matrix")
    assert strategy["fail-fast"] is False, "other shards would be cancelled"
    for job in jobs.values():
        for step in job["steps"]:
            Only(step, "uses", "with", "run", "env", "if")
            assert ("uses" in step) != ("run" in step), step
        installs(commands_of(job))
    once([step["run"] for step in shard["steps"]
          if "run" in step and "env" not in step])
    merge = Only(jobs["merge"], "runs-on", "needs", "if", "steps")
    assert merge["needs"] in jobs and merge["if"] == "always()"
    for number in strategy["matrix"]["shard"]:
        for step in shard["steps"]:
            if "env" in step:
                line({name: expand(value, number)
                      for name, value in step["env"].items()}, [step["run"]])
    once([one for one in commands_of(merge) if one.startswith("testlog ")])


def gitlab(file):
    file = Only(file, "stages", "default", "shard", "merge")
    every = Only(file["default"], "image", "before_script")
    for name in ("shard", "merge"):
        job = Only(file[name], "stage", "parallel", "variables", "script",
                   "artifacts", "when")
        assert job["stage"] in file["stages"], name
        installs(every["before_script"] + job["script"])
        Only(job["artifacts"], "when", "paths", "reports")
    once(every["before_script"])
    shard = file["shard"]
    assert 2 <= shard["parallel"] <= 200
    for index in range(1, shard["parallel"] + 1):
        node = {"CI_NODE_INDEX": str(index),
                "CI_NODE_TOTAL": str(shard["parallel"])}
        variables = {name: value.replace("$CI_NODE_INDEX", str(index))
                     for name, value in shard["variables"].items()}
        line(node | variables, shard["script"])
    once(file["merge"]["script"])


def kubernetes(file):
    file = Only(file, "apiVersion", "kind", "metadata", "spec")
    assert (file["apiVersion"], file["kind"]) == ("batch/v1", "Job")
    spec = Only(file["spec"], "completionMode", "completions", "parallelism",
                "template")
    assert spec["completionMode"] == "Indexed"
    pod = Only(spec["template"]["spec"], "restartPolicy", "containers",
               "volumes")
    assert pod["restartPolicy"] in ("Never", "OnFailure")
    [container] = pod["containers"]
    container = Only(container, "name", "image", "command", "args", "env",
                     "volumeMounts", "workingDir")
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert all(mount["name"] in volumes for mount in container["volumeMounts"])
    variables = {entry["name"]: entry["value"] for entry in container["env"]}
    assert variables["TEST_TOTAL_SHARDS"] == str(spec["completions"])
    once(re.findall("^# +RUN (.*)", text, re.MULTILINE) + ["make build"])
    for index in range(spec["completions"]):
        line({"JOB_COMPLETION_INDEX": str(index)} | variables,
             container["args"])
    once(re.findall("^# +(testlog merge .*)", text, re.MULTILINE))


kinds = {"jobs": github, "stages": gitlab, "kind": kubernetes}
with open(sys.argv[1], encoding="utf-8") as stream:
    text = stream.read()
content = yaml.safe_load(text)
kinds[next(key for key in kinds if key in content)](content)
