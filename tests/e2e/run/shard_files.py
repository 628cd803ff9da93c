"""shard_files.py FILE: checks a file of examples/shards/ and prints the shell
commands of its shards, a line for each shard.

The keys are those that the schedulers document. No schema is checked: neither
GitHub's, GitLab's nor Kubernetes' is in Debian.
"""
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


def line(variables, commands):
    settings = " ".join(f"{name}={shlex.quote(value)}"
                        for name, value in variables.items())
    tests = [command for command in commands if "testlog run" in command]
    assert len(tests) == 1, commands
    print(f"export {settings}; {tests[0]}")


def expand(text, shard):
    return text.replace("${{ matrix.shard }}", str(shard))


def installs(commands):
    """Checks that a job installs testlog before it runs it."""
    runs = [i for i, one in enumerate(commands) if one.startswith("testlog ")]
    [place] = [i for i, one in enumerate(commands) if "install" in one
               and "deps" in one]
    assert runs and place < min(runs), commands


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
        installs([step["run"] for step in job["steps"] if "run" in step])
    merge = Only(jobs["merge"], "runs-on", "needs", "if", "steps")
    assert merge["needs"] in jobs and merge["if"] == "always()"
    for number in strategy["matrix"]["shard"]:
        for step in shard["steps"]:
            if "env" in step:
                line({name: expand(value, number)
                      for name, value in step["env"].items()}, [step["run"]])


def gitlab(file):
    file = Only(file, "stages", "default", "shard", "merge")
    every = Only(file["default"], "image", "before_script")
    for name in ("shard", "merge"):
        job = Only(file[name], "stage", "parallel", "variables", "script",
                   "artifacts", "when")
        assert job["stage"] in file["stages"], name
        installs(every["before_script"] + job["script"])
        Only(job["artifacts"], "when", "paths", "reports")
    shard = file["shard"]
    assert 2 <= shard["parallel"] <= 200
    for index in range(1, shard["parallel"] + 1):
        node = {"CI_NODE_INDEX": str(index),
                "CI_NODE_TOTAL": str(shard["parallel"])}
        variables = {name: value.replace("$CI_NODE_INDEX", str(index))
                     for name, value in shard["variables"].items()}
        line(node | variables, shard["script"])


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
    for index in range(spec["completions"]):
        line({"JOB_COMPLETION_INDEX": str(index)} | variables,
             container["args"])


kinds = {"jobs": github, "stages": gitlab, "kind": kubernetes}
with open(sys.argv[1], encoding="utf-8") as stream:
    text = yaml.safe_load(stream)
kinds[next(key for key in kinds if key in text)](text)
