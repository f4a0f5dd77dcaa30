"""A program that a policy asks, in every way that one can go right or wrong: `judge.py MODE [FILE]`.

FILE gets a line for each question, so that a test sees what was asked, and that nothing was."""
import json
import os
import subprocess
import sys
import time

mode, log = sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else None)
print(f"judge: ready {os.getpid()}.", file=sys.stderr, flush=True)
if mode == "broken":
    sys.exit(3)
waiting = []


def note(line):
    if log:
        with open(log, "a") as out:
            out.write(line if line.endswith("\n") else line + "\n")


def answer(question, **said):
    sys.stdout.write(json.dumps({"id": question["id"], **said}) + "\n")
    sys.stdout.flush()


if mode == "deaf":
    time.sleep(600)
if mode == "closes":
    os.close(0)
    note("closed")
    time.sleep(600)
while mode in ("flood", "blank"):
    print("" if mode == "blank" else "On it!", flush=True)


for line in sys.stdin:
    note(line)
    question = json.loads(line)
    if mode == "yes":
        answer(question, allow=True)
    elif mode == "no":
        answer(question, allow=False, reason="nobody asked for that")
    elif mode == "score":
        answer(question, score=0.95)
    elif mode == "silent":
        pass
    elif mode == "die":
        sys.exit(7)
    elif mode == "orphan":
        # What it started outlives it, and holds its stdout open.
        subprocess.Popen(["sleep", "600"])
        os._exit(7)
    elif mode == "die_once":
        try:
            open(log + ".died").close()
            answer(question, allow=True)
        except FileNotFoundError:
            open(log + ".died", "w").close()
            sys.exit(7)
    elif mode == "garbage":
        print("I think that is fine!", flush=True)
    elif mode == "wrong_id":
        answer({"id": question["id"] + 1000}, allow=True)
    elif mode == "huge":
        sys.stdout.write('{"id":%d,"allow":true,"reason":"%s"}\n' % (question["id"], "x" * 200_000))
        sys.stdout.flush()
    elif mode == "gullible":
        text = json.dumps(question)
        answer(question, score=0.95 if "Ignore all previous" in text else 0.2, reason="as I read it")
    elif mode == "steady":
        answer(question, score=0.95)
    elif mode == "turned":
        # Two at a time, the later one first.
        waiting.append(question)
        if len(waiting) == 2:
            for question in reversed(waiting):
                answer(question, allow=question["tool"] == "good")
            waiting = []
    elif mode == "late":
        time.sleep(1.0)
        answer(question, allow=True)
    else:
        answer(question, error=f"no mode {mode}")
