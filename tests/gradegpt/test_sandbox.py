"""Hostile programs: none escapes, none hangs the judge, all are reported."""
# ruff: noqa: E501  programs are data

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from gradegpt.core import sandbox
from gradegpt.core.errors import MissingError
from gradegpt.core.sandbox import End, Ran, ResourceLimits, missing, run

LIMITS = ResourceLimits(seconds=1.0, memory_mb=256, output_mb=1, files_mb=4, processes=8)
confined = pytest.mark.skipif(bool(missing()), reason=f"no sandbox on this system: {missing()}")
READS = (
    "/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", "/data", "/var/log", "/proc/1/environ",
    "/proc/kcore", "/root", "/proc/1/root/root", "/var/lib", "/home/../root", "/etc/ssl/private", "/media", "/usr/../root", "/run", "/mnt", "/srv", "/boot", "/etc/hostname", "/opt",
)  # fmt: skip
WRITES = (
    "/x", "/etc/x", "/usr/x", "/usr/bin/python3", "/bin/sh", "/dev/x", "/proc/x", "/sys/x",
    "/proc/sys/kernel/hostname", "/proc/self/oom_score_adj/x", "/box/main.py", "/lib/x", "/usr/local/x", "/dev/null/x",
)  # fmt: skip
SIGNALS = (
    "SIGTERM", "SIGINT", "SIGHUP", "SIGALRM", "SIGQUIT", "SIGUSR1", "SIGXCPU", "SIGPIPE", "SIGTSTP",
    "SIGSEGV", "SIGUSR2",
)  # fmt: skip
ADDRESSES = (
    "127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "192.168.0.1", "172.17.0.1",
    "fe80::1",
)  # fmt: skip
READ = (
    "import os\nfor p in {}:\n  os.symlink(p,'/tmp/l')\n  for q in p, '/tmp/l':\n"
    "    try: t = os.listdir(q) if os.path.isdir(q) else [open(q,'rb').read(9)]\n"
    "    except OSError: t = []\n    print(p, 'ESCAPED' if any(t) else 'kept')\n  os.remove('/tmp/l')"
)
WRITE = (
    "for p in {}:\n  for mode in 'w', 'a', 'r+':\n"
    "    try:\n      open(p,mode).write('x')\n      print(p, mode, 'ESCAPED')\n    except OSError: print('kept')"
)
REMOVE = (
    "import os\nfor p in {}:\n"
    "  try:\n    os.remove(p)\n    print(p, 'ESCAPED')\n  except OSError: print('kept')"
)
CONNECT = (
    "import socket\nfor a in {}:\n  for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:\n"
    "    s=socket.socket(socket.AF_INET6 if ':' in a else socket.AF_INET, kind)\n"
    "    s.settimeout(.1)\n    try:\n      s.connect((a, 53)); s.send(b'x'); s.recv(1)\n"
    "      print(a, 'ESCAPED')\n    except OSError: print('kept')"
)
UNIX = (
    "import socket,glob\nr=[]\nfor p in ['/run/docker.sock','/var/run/docker.sock','/tmp/.X11-unix/X0','\\0x']:\n"
    "  s=socket.socket(socket.AF_UNIX)\n  try: s.connect(p); r.append(p)\n  except OSError: pass\n"
    "print('ESCAPED' if r else 'kept')"
)
IGNORE = "import signal\nsignal.signal(signal.{}, signal.SIG_IGN)\nwhile True: pass"
SEND = (
    "import os,signal\nfor name in {}:\n"
    "  try: os.kill(-1, getattr(signal, name))\n  except OSError: pass\n"
    "try: os.kill(1, signal.SIGKILL)\nexcept OSError: pass\nprint('kept')"
)


def hostile() -> Iterator[tuple[str, str]]:
    """(name, Python program); a program that escapes prints ``ESCAPED``."""
    yield "read", READ.format(READS)
    yield "write", WRITE.format(WRITES)
    yield "remove", REMOVE.format(WRITES)
    yield "connect", CONNECT.format(ADDRESSES)
    yield "unix sockets", UNIX
    yield "send to all", SEND.format(SIGNALS)
    yield from ((f"ignore {name} and spin", IGNORE.format(name)) for name in SIGNALS[:3])
    forks = {
        "fork bomb": "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass",
        "thread bomb": "import threading,time\nn=0\ntry:\n  for n in range(10**5): threading.Thread(target=time.sleep,args=(30,),daemon=True).start()\nexcept RuntimeError: print('kept' if n<100 else 'ESCAPED')",
        "background with pipes": "import subprocess\nsubprocess.Popen(['sleep','30'])\nprint('kept')",
        "background without pipes": "import subprocess\nd=subprocess.DEVNULL\nsubprocess.Popen(['sleep','30'],stdin=d,stdout=d,stderr=d,start_new_session=True)\nprint('kept')",
    }
    memory = {
        "one block": "x=bytearray(2**34)",
        "recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
        "mmap": "import mmap\nx=[]\nwhile True: x.append(mmap.mmap(-1,2**28))",
        "in each process": "import os\nfor _ in range(20):\n  try: os.fork()\n  except OSError: break\nx=[]\nwhile True: x.append(bytearray(2**24))",
    }
    output = {
        "endless": "while True: print('x'*9999)",
        "both": "import sys\nwhile True: print('x'*999); sys.stderr.write('y'*999)",
        "no newline": "import sys\nwhile True: sys.stdout.write('x')",
        "not utf-8": "import os\nos.write(1,bytes(range(256))*16)",
    }
    files = {
        "a large file": "f=open('/tmp/x','wb')\nwhile True: f.write(b'x'*2**20)",
        "many files": "import os\nfor n in range(10**6): open(f'/tmp/{n}','wb').write(b'x'*2**16)",
        "open files": "x=[]\nwhile True: x.append(open('/dev/null'))",
        "devices": "import os\ntry:\n  os.mknod('/tmp/sda',0o60666,os.makedev(8,0)); open('/tmp/sda','rb').read(1); print('ESCAPED')\nexcept OSError: print('kept')",
        "the disk": "import glob\nr=[]\nfor p in glob.glob('/dev/[svnx]d*')+glob.glob('/dev/mem')+glob.glob('/dev/kmsg'):\n  try: r.append(open(p,'rb').read(1))\n  except OSError: pass\nprint('ESCAPED' if r else 'kept')",
        "standard input": "import os\nos.write(0,b'x')\nprint('kept')",
        "other descriptors": "import os\nr=[]\nfor n in range(3,256):\n  try: r.append(os.read(n,1))\n  except OSError: pass\nprint('ESCAPED' if any(r) else 'kept')",
    }
    privileges = {
        "chroot": "import os\ntry: os.chroot('/tmp'); print('ESCAPED')\nexcept OSError: print('kept')",
        "setuid": "import os\ntry: os.setuid(0); print('ESCAPED')\nexcept OSError: print('kept')",
        "mount": "import ctypes\nl=ctypes.CDLL(None,use_errno=True)\nprint('ESCAPED' if l.mount(b'none',b'/tmp',b'tmpfs',0,None)==0 else 'kept')",
        "host name": "import socket\ntry: socket.sethostname('x'); print('ESCAPED')\nexcept OSError: print('kept')",
        "the first process": "import os\nt=open('/proc/1/status').read()\nn=[os.readlink(f'/proc/{p}/ns/{k}') for k in ('mnt','net','user','pid') for p in (1,'self')]\nprint('kept' if 'CapEff:\\t0000000000000000' in t and n[::2]==n[1::2] else 'ESCAPED')",
        "environment": "import os\nprint('ESCAPED' if {'SECRET_OF_THE_JUDGE'} & {*os.environ} else 'kept')",
        "parents": "import os\nprint('ESCAPED' if os.path.exists('/proc/2000000') or os.getppid() > 5 else 'kept')",
        "the judge's memory": "import glob\nr=[p for p in glob.glob('/proc/[0-9]*/maps') if b'pytest' in open(p,'rb').read()]\nprint('ESCAPED' if r else 'kept')",
    }
    slow = {
        "sleep": "import time\ntime.sleep(30)",
        "a regex": "import re\nre.match('(a+)+$','a'*64+'b')",
        "alarm off": "import signal,time\nsignal.alarm(0)\nfor s in range(1,65):\n  try: signal.signal(s,signal.SIG_IGN)\n  except (OSError,ValueError): pass\ntime.sleep(30)",
        "stop itself": "import os,signal\nos.kill(os.getpid(),signal.SIGSTOP)",
        "crash": "import ctypes\nctypes.string_at(0)",
        "abort": "import os\nos.abort()",
        "exit 0 early": "import os\nprint('kept',flush=True)\nos._exit(0)",
    }
    groups = {
        "fork": forks, "memory": memory, "output": output, "files": files,
        "privileges": privileges, "time": slow,
    }  # fmt: skip
    for group, programs in groups.items():
        for name, text in programs.items():
            yield f"{group}: {name}", text


PROGRAMS = list(hostile())
ATTEMPTS = {
    "read": 2 * len(READS), "write": 3 * len(WRITES), "remove": len(WRITES),
    "connect": 2 * len(ADDRESSES),
}  # fmt: skip
"""Programs that try several things, each with a line of output."""


@confined
def test_no_hostile_program_escapes_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends soon after its time limit, and its end is reported."""
    monkeypatch.setenv("SECRET_OF_THE_JUDGE", "1")
    marker = Path("/tmp/l")

    def tried(program: tuple[str, str]) -> tuple[str, Ran]:
        name, text = program
        ends = name in ATTEMPTS or name.startswith("output")
        seconds = 20 if ends else 0.5 if name.endswith("and spin") else LIMITS.seconds
        limits = LIMITS._replace(seconds=seconds)
        return name, run(
            ["python3", "-I", "/box/main.py"], files={"main.py": text.encode()}, limits=limits
        )

    with ThreadPoolExecutor(4) as pool:
        done = dict(pool.map(tried, PROGRAMS))
    assert not [name for name, ran in done.items() if b"ESCAPED" in ran.stdout]
    late = {name for name, ran in done.items() if ran.seconds > LIMITS.seconds + 3}
    assert not [name for name in late if done[name].end is End.TIME]
    assert not [name for name, ran in done.items() if len(ran.stdout + ran.stderr) > 2 * 2**20]
    assert all(ran.end is not End.EXITED or ran.code >= 0 for ran in done.values())
    ends = {name: ran.end for name, ran in done.items()}
    assert {ends[n] for n in ends if n.endswith("and spin")} == {End.TIME}
    for name, lines in ATTEMPTS.items():
        assert done[name].stdout.count(b"kept") == lines, done[name]
    assert {ends[f"output: {n}"] for n in ("endless", "both", "no newline")} == {End.OUTPUT}
    assert {ends[f"time: {n}"] for n in ("sleep", "a regex", "alarm off", "stop itself")} == {
        End.TIME
    }
    assert (ends["time: crash"], ends["time: abort"]) == (End.KILLED, End.KILLED)
    assert not marker.is_symlink()


@confined
@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("int main(){for(;;);}", End.TIME),
        ("#include <cstdlib>\n#include <cstring>\nint main(){for(;;)memset(malloc(1<<24),1,1<<24);}", End.KILLED),
        ("#include <cstdio>\nint main(){for(;;)puts(\"x\");}", End.OUTPUT),
        ("int f(int n){return f(n+1)+1;}int main(){return f(0);}", End.KILLED),
    ],
)  # fmt: skip
def test_hostile_cpp(text: str, end: End) -> None:
    """C++ programs are limited in the same way."""
    build = "g++ -O0 -x c++ /box/m.cpp -o /tmp/m && cat /tmp/m"
    large = ResourceLimits(seconds=20, memory_mb=1024, output_mb=16)
    made = run(["sh", "-c", build], files={"m.cpp": text.encode()}, limits=large)
    assert made.ok, made.stderr
    limits = LIMITS._replace(seconds=0.3 if end is End.TIME else 20)  # others end before it
    assert run(["/box/m"], files={"m": made.stdout}, limits=limits).end is end


@confined
@pytest.mark.parametrize(
    "text", ["#include </dev/zero>", "#include </etc/passwd>", '#include "/box/m.cpp"',
             "template<int n>struct A{A<n+1> a;};A<0> a;int main(){}"],
)  # fmt: skip
def test_compiling_is_confined(text: str) -> None:
    """Sources that include other files or never end do not compile."""
    limits = ResourceLimits(seconds=4, memory_mb=512)
    ran = run(["g++", "-x", "c++", "/box/m.cpp"], files={"m.cpp": text.encode()}, limits=limits)
    assert not ran.ok
    assert b"root:" not in ran.stdout + ran.stderr
    assert ran.seconds < 8


@confined
def test_there_is_no_network() -> None:
    """An open port of this machine cannot be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = f"import socket\nsocket.create_connection(('127.0.0.1',{port}),1)"
        ran = run(["python3", "-I", "-c", text], limits=LIMITS)
    assert b"ConnectionRefusedError" in ran.stderr


@confined
def test_an_ordinary_program_runs() -> None:
    """It has its input, its files and a folder to write in; exit status and output are returned."""
    text = (
        "import sys,os\nopen('/tmp/a','w').write(input())\nprint(open('/tmp/a').read()[::-1])\n"
        "print(sorted(os.listdir('/box')),file=sys.stderr)\nsys.exit(3)"
    )
    files = {"main.py": text.encode(), "data.txt": b"x"}
    ran = run(["python3", "-I", "/box/main.py"], stdin="好了".encode(), files=files)
    assert (ran.end, ran.code, ran.stdout.decode()) == (End.EXITED, 3, "了好\n")
    assert ran.stderr == b"['data.txt', 'main.py']\n"
    assert not ran.ok


@confined
def test_no_process_is_left() -> None:
    """The kernel ends all processes of the program with its namespace, at once or soon after."""
    mark = f"{time.time_ns() % 10**6 + 10**6}"
    text = f"import subprocess\nfor _ in range(3): subprocess.Popen(['sleep','{mark}'])"
    assert run(["python3", "-I", "-c", text], limits=LIMITS).ok
    end = time.monotonic() + 5
    while left := [line for line in commands() if mark.encode() in line]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def commands() -> Iterator[bytes]:
    """The command lines of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield path.read_bytes()


def test_without_a_sandbox_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install or to allow."""
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None if name == "bwrap" else name)
    monkeypatch.setattr(sandbox, "missing", sandbox.missing.__wrapped__)
    with pytest.raises(
        MissingError,
        match="code cannot be run on this system: bwrap is not installed; install the package",
    ):
        run(["true"])
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    assert "the sandbox needs Linux" in sandbox.missing()
    monkeypatch.undo()
    refused = Ran(End.EXITED, 1, b"", b"bwrap: No permissions", 0.1)
    monkeypatch.setattr(sandbox, "_run", lambda *_: refused)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: name)
    assert "refuses namespaces (bwrap: No permissions); allow" in sandbox.missing.__wrapped__()
