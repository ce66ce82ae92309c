"""Runs what people are told to try, as it is printed: every `curl` and every SDK example of the texts given.

    python tests/clients/printed.py TEXT...

In a Markdown file the fenced blocks count: `sh` blocks with a `curl` in them, `python` and `js` blocks with the
word `a2a`. In any other text each command that begins with `curl` does. Addresses are taken to the platform of
FORECOURT_PUBLIC_ORIGIN. A call passes if it ends with status 0 and answers without an `error`; a block whose fence
says `expect-error` must answer with one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ORIGIN = os.environ["FORECOURT_PUBLIC_ORIGIN"]
PRINTED_ORIGIN = re.compile(r"http://(?:127\.0\.0\.1|localhost)(?::\d+)?(?=[/\s'\"`)]|$)")
JS = Path(__file__).parent / "js"
PYTHON = Path(__file__).parent / "python"  # what a text tells its readers to save lies there, and in JS

# Stands in for curl and writes down what it answered, wherever the answer goes afterwards.
SHIM = """#!/usr/bin/env bash
out=$({curl} -sS "$@"; echo "status $?")
status=${{out##*status }}
out=${{out%status *}}
python3 -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "$status" "$out" "$@" >>"$PRINTED_CALLS"
printf %s "$out"
exit "$status"
"""


def blocks(path: Path) -> list[tuple[str, str]]:
    """The runnable parts of a text, as (kind, code); kind is the fence's info string, or `sh`."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        # With the lines that a backslash continues.
        return [("sh", found) for found in re.findall(r"^\s*(curl (?:.*\\\n)*.*)$", text, flags=re.M)]
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.M | re.S)
    return [(kind.strip(), code) for kind, code in found if runnable(kind.strip(), code)]


def runnable(kind: str, code: str) -> bool:
    language = kind.split(" ")[0]
    if language in ("sh", "bash"):
        return re.search(r"\bcurl\b", code) is not None
    return language in ("python", "js") and "a2a" in code


def run(kind: str, code: str, scratch: Path) -> list[str]:
    """Runs one block; what is wrong with it, nothing if it went as it should."""
    language = kind.split(" ")[0]
    code = PRINTED_ORIGIN.sub(ORIGIN, code)
    calls = scratch / "calls"
    calls.write_text("")
    if language in ("sh", "bash"):
        command, cwd = ["bash", "-euo", "pipefail", "-c", code], scratch
    elif language == "python":
        command, cwd = [sys.executable, "-c", code], scratch
    else:
        command, cwd = ["node", "--input-type=module", "-e", code], JS  # where the SDK is installed
    path = f"{scratch / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PRINTED_CALLS": str(calls), "PYTHONPATH": str(PYTHON)}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)
    problems = []
    if done.returncode != 0:
        problems.append(f"ended with status {done.returncode}: {done.stderr.strip()[-1500:]}")
    elif not done.stdout.strip():
        problems.append("printed nothing")
    for line in calls.read_text().splitlines():
        status, answer, *arguments = json.loads(line)
        problem = judge(int(status), answer, arguments, expect_error="expect-error" in kind)
        if problem:
            problems.append(f"curl {shlex.join(arguments)}\n    {problem}\n    {answer[:1500]}")
    return problems


def judge(status: int, answer: str, arguments: list[str], expect_error: bool) -> str | None:
    """What is wrong with one answer of curl."""
    if status != 0:
        return f"curl ended with status {status}"
    if any(re.fullmatch(r"--(include|head)|-[a-zA-Z]*[iI][a-zA-Z]*", word) for word in arguments):
        return None if re.match(r"HTTP/[0-9.]+ (200|304)\b", answer) else "is not answered with 200 or 304"
    try:
        parsed = json.loads(answer)
    except ValueError:
        return None if "<html" in answer else "is neither answered with JSON nor with a page"
    if isinstance(parsed, dict) and ("error" in parsed) != expect_error:
        return "answers with an error" if "error" in parsed else "should answer with an error"
    return None


def main(texts: list[str]) -> int:
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "bin").mkdir()
        curl = subprocess.run(["which", "curl"], capture_output=True, text=True, check=True).stdout.strip()
        shim = scratch / "bin" / "curl"
        shim.write_text(SHIM.format(curl=curl))
        shim.chmod(0o755)
        for text in texts:
            found = blocks(Path(text))
            if not found:
                print(f"not ok - {text}: nothing to run in it")
                failed += 1
            for number, (kind, code) in enumerate(found, 1):
                problems = run(kind, code, scratch)
                first = code.strip().splitlines()[0][:90]
                print(f"{'not ok' if problems else 'ok'} - {Path(text).name} {number} ({kind}): {first}")
                for problem in problems:
                    print(f"    {problem}")
                failed += bool(problems)
                passed += not problems
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
