# SPDX-License-Identifier: MIT
"""An S3 client with signatures of version 4, of Python's standard library alone. As a program it sends one request:

    client.py [--wait] PORT METHOD PATH [NAME=VALUE]... [< body]

NAME=VALUE are of the query. Prints the status and the body of the reply; the exit code is 1 unless the status is 2xx.
--wait: waits until the server listens.
"""

import datetime
import hashlib
import hmac
import http.client
import re
import sys
import time
import urllib.parse
from typing import NamedTuple

ALGORITHM = "AWS4-HMAC-SHA256"
TIME = "%Y%m%dT%H%M%SZ"


def encode(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def utc(ahead=0):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=ahead)


def is_near(date, ahead):
    """Whether a signature's date is one that a server takes whose clock is `ahead` seconds ahead."""
    try:
        signed = datetime.datetime.strptime(date, TIME).replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return False
    return abs((signed - utc(ahead)).total_seconds()) <= 900


def authorization(method, target, headers, names, key, scope, secret):
    """Of a request for `target`: an encoded path and a sorted query. `names`: the signed headers, in lower case."""
    path, _, query = target.partition("?")
    signed = [f"{name}:{headers[name].strip()}" for name in names]
    canonical = "\n".join([method, path, query, *signed, "", ";".join(names), headers["x-amz-content-sha256"]])
    text = "\n".join([ALGORITHM, headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    derived = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        derived = hmac.new(derived, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(derived, text.encode(), hashlib.sha256).hexdigest()
    return f"{ALGORITHM} Credential={key}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"


def signed_now(method, target, headers, secret):
    """The headers that change if the request is signed anew at this time; none if its signature is not valid."""
    fields = dict(re.findall(r"(\w+)=([^, ]+)", headers.get("authorization", "")))
    key, _, scope = fields.get("Credential", "").partition("/")
    names = fields.get("SignedHeaders", "").split(";")
    if not {"x-amz-date", "x-amz-content-sha256", *names} <= headers.keys():
        return {}
    valid = authorization(method, target, headers, names, key, scope, secret)
    if dict(re.findall(r"(\w+)=([^, ]+)", valid)) != fields:
        return {}
    date = utc().strftime(TIME)
    scope = "/".join([date[:8], *scope.split("/")[1:]])
    changed = authorization(method, target, headers | {"x-amz-date": date}, names, key, scope, secret)
    return {"x-amz-date": date, "authorization": changed}


class Reply(NamedTuple):
    status: int
    headers: dict  # by lower-case names
    body: bytes

    @property
    def code(self):
        """The status, and the code of S3's error document."""
        found = re.search(rb"<Error>.*<Code>([^<]*)</Code>", self.body, re.DOTALL)
        return f"{self.status} {found[1].decode()}" if found else str(self.status)


class Client:
    """One connection, which is kept, and opened anew after an error; one request at a time. Nothing is tried again."""

    def __init__(self, port, key="AK", secret="SK", region="us-east-1", ahead=0):
        self.key, self.secret, self.region = key, secret, region
        self.ahead = ahead  # seconds, of the clock
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method, path, query=None, body=b"", **headers):
        """`path` and `query` are not encoded yet. In names of headers _ stands for -."""
        now = utc(self.ahead)
        pairs = sorted(f"{encode(name)}={encode(str(value))}" for name, value in (query or {}).items())
        target = encode(path, "/") + ("?" + "&".join(pairs) if pairs else "")
        sent = {
            "host": f"{self.connection.host}:{self.connection.port}",
            "x-amz-date": now.strftime(TIME),
            "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
            **{name.lower().replace("_", "-"): value for name, value in headers.items()},
        }
        names = sorted(name for name in sent if name == "host" or name.startswith("x-amz-"))
        scope = f"{now:%Y%m%d}/{self.region}/s3/aws4_request"
        sent["authorization"] = authorization(method, target, sent, names, self.key, scope, self.secret)
        return self.send(method, target, body, sent)

    def send(self, method, target, body=b"", headers=None):
        try:
            self.connection.request(method, target, body, headers or {})
            reply = self.connection.getresponse()
            return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read())
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise


def main(arguments):
    wait = arguments[0] == "--wait"
    port, method, path, *query = arguments[wait:]
    body = sys.stdin.buffer.read() if method in ("PUT", "POST") and not sys.stdin.isatty() else b""
    while True:
        try:
            reply = Client(int(port)).call(method, path, dict(pair.partition("=")[::2] for pair in query), body)
            break
        except ConnectionRefusedError:
            if not wait:
                raise
            time.sleep(0.1)
    print(reply.status, reply.body.decode(errors="replace"))
    return 0 if 200 <= reply.status < 300 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
