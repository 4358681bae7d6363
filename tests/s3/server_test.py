# SPDX-License-Identifier: MIT
"""Checks that an S3 server does what the store relies on, and that proxy.py in front of it does what its rules say.

    server_test.py PORT [NAME]...   all checks, or those named

The server has access key AK, secret SK and the bucket cairn. Prints the status codes in which servers may differ, and
at last the names of the checks that failed; the exit code is then 1.
"""

import collections
import email.utils
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import traceback
import xml.etree.ElementTree
from pathlib import Path

from client import Client

PORT = int(sys.argv[1])
BUCKET = "/cairn"
PREFIX = f"server_test/{os.getpid()}-{time.time_ns()}/"  # of all keys
FOLDER = BUCKET + "/" + PREFIX
server = Client(PORT)
failures = collections.defaultdict(list)
running = None


def expect(what, got, wanted):
    if got != wanted:
        failures[running].append(f"{what}: {got!r}, not {wanted!r}")


def differs(what, got):
    print(f"  {what}: {got}")


def texts(reply, tag):
    """Of all elements with this tag, without regard to namespaces."""
    if not reply.body:
        return []
    elements = xml.etree.ElementTree.fromstring(reply.body).iter()
    return [each.text or "" for each in elements if each.tag.split("}")[-1] == tag]


def pages(prefix, client=server, **query):
    """The replies of a LIST, each with its keys."""
    query = {"list-type": 2, "prefix": prefix, **query}
    while True:
        reply = client.call("GET", BUCKET, query)
        yield reply, texts(reply, "Key")
        token = texts(reply, "NextContinuationToken")
        if not token:
            return
        query["continuation-token"] = token[0]


def in_threads(count, function):
    """What function(number, client) returns in `count` threads that begin together, each with its client."""
    results = [None] * count
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        results[number] = function(number, Client(PORT))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def completion_of(etags):
    parts = (f"<Part><PartNumber>{number}</PartNumber><ETag>{etags[number]}</ETag></Part>" for number in sorted(etags))
    return f"<CompleteMultipartUpload>{''.join(parts)}</CompleteMultipartUpload>".encode()


def upload(path, parts, client=server):
    """Starts a multipart upload and sends `parts`, pairs of number and body. Returns its id and what completes it."""
    upload_id = texts(client.call("POST", path, {"uploads": ""}), "UploadId")[0]
    etags = {}
    for number, body in parts:
        reply = client.call("PUT", path, {"partNumber": number, "uploadId": upload_id}, body)
        etags[number] = reply.headers.get("etag")
    return upload_id, completion_of(etags)


# Servers


def check_signature():
    path = FOLDER + "signed"
    expect("put", server.call("PUT", path, body=b"1").code, "200")
    expect("get", server.call("GET", path).body, b"1")
    expect("wrong secret", Client(PORT, secret="KS").call("GET", path).code, "403 SignatureDoesNotMatch")
    expect("unknown key", Client(PORT, key="KA").call("GET", path).code, "403 InvalidAccessKeyId")
    for ahead in (-3600, 3600):
        reply = Client(PORT, ahead=ahead).call("GET", path)
        expect(f"clock {ahead} s ahead", reply.code, "403 RequestTimeTooSkewed")
        date = email.utils.parsedate_to_datetime(reply.headers.get("date", "Thu, 01 Jan 1970 00:00:00 GMT"))
        expect("its date is the server's", abs(date.timestamp() - time.time()) < 10, True)
    expect("clock 10 minutes behind", Client(PORT, ahead=-600).call("GET", path).code, "200")
    expect("without a signature", server.send("GET", path).code, "403 AccessDenied")
    differs("another region", Client(PORT, region="eu-north-1").call("GET", path).code)


def check_sha256():
    path, wrong = FOLDER + "sha256", "0" * 64
    reply = server.call("PUT", path, body=b"2", x_amz_content_sha256=wrong)
    expect("put", reply.code, "400 XAmzContentSHA256Mismatch")
    expect("then", server.call("HEAD", path).status, 404)
    reply = server.call("PUT", path, body=b"2", x_amz_content_sha256="UNSIGNED-PAYLOAD")
    differs("put with UNSIGNED-PAYLOAD", reply.code)


def check_ranges():
    path = FOLDER + "ranges"
    server.call("PUT", path, body=bytes(range(200)))
    ranges = {"0-0": (0, 0), "10-19": (10, 19), "190-500": (190, 199), "150-": (150, 199), "-7": (193, 199)}
    for wanted, (first, last) in ranges.items():
        reply = server.call("GET", path, Range=f"bytes={wanted}")
        expect(f"status of {wanted}", reply.status, 206)
        expect(f"bytes of {wanted}", reply.body, bytes(range(first, last + 1)))
        expect(f"Content-Range of {wanted}", reply.headers.get("content-range"), f"bytes {first}-{last}/200")
    for wanted in ("200-", "500-600"):
        expect(f"status of {wanted}", server.call("GET", path, Range=f"bytes={wanted}").code, "416 InvalidRange")
    expect("HEAD's length", server.call("HEAD", path).headers.get("content-length"), "200")
    server.call("PUT", path)
    reply = server.call("GET", path)
    expect("empty", (reply.status, reply.body, reply.headers.get("content-length")), (200, b"", "0"))
    differs("range of an empty object", server.call("GET", path, Range="bytes=0-0").code)


def check_conditional_put():
    path = FOLDER + "conditional"
    expect("new", server.call("PUT", path, body=b"first", If_None_Match="*").code, "200")
    expect("existing", server.call("PUT", path, body=b"second", If_None_Match="*").code, "412 PreconditionFailed")
    expect("content", server.call("GET", path).body, b"first")
    expect("delete", server.call("DELETE", path).status, 204)
    expect("deleted", server.call("PUT", path, body=b"third", If_None_Match="*").code, "200")
    expect("content of the deleted", server.call("GET", path).body, b"third")


def check_races():
    losers = collections.Counter()
    for race in range(20):
        path = f"{FOLDER}race{race}"

        def put(number, client):
            return client.call("PUT", path, body=b"%d" % number, If_None_Match="*").code

        codes = in_threads(8, put)
        expect(f"winners of race {race}", codes.count("200"), 1)
        if "200" in codes:
            expect(f"content after race {race}", server.call("GET", path).body, b"%d" % codes.index("200"))
        losers.update(code for code in codes if code != "200")
    differs("losers of 20 races of 8", dict(losers))


def check_metadata():
    path = FOLDER + "metadata"
    expect("put", server.call("PUT", path, body=b"m", x_amz_meta_attempt="8a1f", x_amz_meta_step="120").code, "200")
    for method in ("HEAD", "GET"):
        headers = server.call(method, path).headers
        expect(method, (headers.get("x-amz-meta-attempt"), headers.get("x-amz-meta-step")), ("8a1f", "120"))
    expect("put again", server.call("PUT", path, body=b"m", x_amz_meta_attempt="9b2e").code, "200")
    headers = server.call("HEAD", path).headers
    expect("replaced", (headers.get("x-amz-meta-attempt"), headers.get("x-amz-meta-step")), ("9b2e", None))


def check_multipart():
    path, first, last = FOLDER + "multipart", os.urandom(5 << 20), b"last"
    upload_id, completion = upload(path, [(2, last), (1, b"replaced"), (1, first)])
    expect("not there before", server.call("HEAD", path).status, 404)
    reply = server.call("POST", path, {"uploadId": upload_id}, completion)
    expect("complete", reply.code, "200")
    differs("ETag in the reply to complete", texts(reply, "ETag"))
    differs("ETag then", server.call("HEAD", path).headers.get("etag"))
    expect("length", server.call("HEAD", path).headers.get("content-length"), str(len(first + last)))
    expect("content", server.call("GET", path).body == first + last, True)
    around = server.call("GET", path, Range=f"bytes={len(first) - 2}-{len(first) + 1}")
    expect("range over two parts", around.body, first[-2:] + last[:2])
    differs("complete again", server.call("POST", path, {"uploadId": upload_id}, completion).code)
    expect("content then", server.call("GET", path).body == first + last, True)
    reply = server.call("POST", path, {"uploadId": "2~no"}, completion)
    differs("complete of an unknown upload, same parts", reply.code)
    reply = server.call("POST", path, {"uploadId": "2~no"}, completion_of({1: "0" * 32}))
    differs("complete of an unknown upload, other parts", reply.code)
    reply = server.call("PUT", path, {"partNumber": 1, "uploadId": "2~unknown"}, b"x")
    expect("part of an unknown upload", reply.code, "404 NoSuchUpload")
    differs("part of a completed upload", server.call("PUT", path, {"partNumber": 3, "uploadId": upload_id}, b"x").code)
    differs("abort of a completed upload", server.call("DELETE", path, {"uploadId": upload_id}).code)
    expect("content at last", server.call("GET", path).body == first + last, True)


def check_refused_parts():
    path = FOLDER + "refused_parts"
    upload_id, completion = upload(path, [(1, b"x"), (2, b"y")])
    reply = server.call("POST", path, {"uploadId": upload_id}, completion)
    expect("complete with a first part of one byte", reply.code, "400 EntityTooSmall")
    server.call("DELETE", path, {"uploadId": upload_id})
    upload_id, completion = upload(path, [(1, b"x")])
    etags = {1: "0123456789abcdef0123456789abcdef"}
    reply = server.call("POST", path, {"uploadId": upload_id}, completion_of(etags))
    expect("complete with another ETag", reply.code, "400 InvalidPart")
    expect("no object", server.call("HEAD", path).status, 404)
    expect("complete after both", server.call("POST", path, {"uploadId": upload_id}, completion).code, "200")


def check_upload_metadata():
    path = FOLDER + "upload_metadata"
    upload_id = texts(server.call("POST", path, {"uploads": ""}, x_amz_meta_attempt="8a1f"), "UploadId")[0]
    etag = server.call("PUT", path, {"partNumber": 1, "uploadId": upload_id}, b"x").headers.get("etag")
    expect("complete", server.call("POST", path, {"uploadId": upload_id}, completion_of({1: etag})).code, "200")
    expect("metadata", server.call("HEAD", path).headers.get("x-amz-meta-attempt"), "8a1f")


def check_abort():
    path = FOLDER + "aborted"
    upload_id, completion = upload(path, [(1, b"x")])
    expect("abort", server.call("DELETE", path, {"uploadId": upload_id}).status, 204)
    differs("abort again", server.call("DELETE", path, {"uploadId": upload_id}).code)
    differs("complete after abort", server.call("POST", path, {"uploadId": upload_id}, completion).code)
    reply = server.call("PUT", path, {"partNumber": 1, "uploadId": upload_id}, b"x")
    expect("part after abort", reply.code, "404 NoSuchUpload")
    expect("no object", server.call("HEAD", path).status, 404)
    reply = server.call("GET", BUCKET, {"uploads": "", "prefix": PREFIX + "aborted"})
    expect("no upload", texts(reply, "Key"), [])


def check_uploads():
    started = [(name, upload(FOLDER + name, [])[0]) for name in ("uploads/a=1 ä", "uploads/b", "other/c")]
    for prefix, wanted in (("uploads/", started[:2]), ("other/", started[2:]), ("none/", [])):
        reply = server.call("GET", BUCKET, {"uploads": "", "prefix": PREFIX + prefix})
        found = sorted(zip(texts(reply, "Key"), texts(reply, "UploadId")))
        expect(f"of {prefix}", found, [(PREFIX + name, upload_id) for name, upload_id in wanted])
    expect("with times", all(re.match(r"20\d\d-\d\d-\d\dT", each) for each in texts(reply, "Initiated")), True)
    for name, upload_id in started:
        server.call("DELETE", FOLDER + name, {"uploadId": upload_id})
    reply = server.call("GET", BUCKET, {"uploads": "", "prefix": PREFIX + "uploads/"})
    expect("after abort", texts(reply, "Key"), [])


def check_pages():
    wanted = [f"{PREFIX}pages/{number:04}" for number in range(1200)]

    def put(number, client):
        return {client.call("PUT", f"{BUCKET}/{key}", body=b"x" * 3).code for key in wanted[number::8]}

    expect("put", set().union(*in_threads(8, put)), {"200"})
    found = list(pages(PREFIX + "pages/"))
    expect("keys in pages", [len(keys) for _, keys in found], [1000, 200])
    expect("keys", [key for _, keys in found for key in keys], wanted)
    expect("truncated", [texts(reply, "IsTruncated") for reply, _ in found], [["true"], ["false"]])
    expect("sizes", set(texts(found[0][0], "Size")), {"3"})
    expect("pages of 500", [len(keys) for _, keys in pages(PREFIX + "pages/", **{"max-keys": 500})], [500, 500, 200])
    after = [key for _, keys in pages(PREFIX + "pages/", **{"start-after": wanted[1197]}) for key in keys]
    expect("start-after", after, wanted[1198:])
    server.call("PUT", FOLDER + "pages/1199/inner")
    reply = server.call("GET", BUCKET, {"list-type": 2, "prefix": PREFIX + "pages/119", "delimiter": "/"})
    expect("with a delimiter", (len(texts(reply, "Key")), texts(reply, "Prefix")[1:]), (10, [PREFIX + "pages/1199/"]))


def check_keys():
    names = ["a=1", "a b", "a+b", "a%20b", "a%b", "äöüß", "日本", "a&b<c>'\"", "a//b", "~!$()*,;:@?#", "step-12.8a1f"]
    for name in names:
        expect(f"put {name}", server.call("PUT", f"{FOLDER}keys/{name}", body=name.encode()).code, "200")
    for name in names:
        expect(f"get {name}", server.call("GET", f"{FOLDER}keys/{name}").body, name.encode())
    wanted = sorted((f"{PREFIX}keys/{name}" for name in names), key=str.encode)
    reply, keys = next(pages(PREFIX + "keys/"))
    expect("list", keys, wanted)
    for name in ("a=", "a ", "a+", "a%", "ä"):
        keys = next(pages(f"{PREFIX}keys/{name}"))[1]
        expect(f"prefix {name}", keys, [key for key in wanted if key.startswith(f"{PREFIX}keys/{name}")])
    encoded = next(pages(PREFIX + "keys/", **{"encoding-type": "url"}))[1]
    differs("with encoding-type=url", " ".join(key.rpartition("keys/")[2].rpartition("keys%2F")[2] for key in encoded))


def check_absent():
    path = FOLDER + "absent"
    expect("get", server.call("GET", path).code, "404 NoSuchKey")
    expect("head", server.call("HEAD", path).code, "404")
    expect("delete", server.call("DELETE", path).status, 204)
    expect("bucket", server.call("GET", "/no-such-bucket/key").code, "404 NoSuchBucket")
    expect("list", [keys for _, keys in pages(PREFIX + "absent/")], [[]])
    server.call("PUT", path, body=b"x")
    expect("delete what is there", server.call("DELETE", path).status, 204)
    expect("get what was deleted", server.call("GET", path).code, "404 NoSuchKey")


# The proxy


class Proxy(Client):
    """A client of a proxy with these rules, which ends with the `with` block."""

    def __init__(self, *rules, **options):
        command = [sys.executable, str(Path(__file__).parent / "proxy.py"), "--listen", "0", "--to", str(PORT)]
        self.process = subprocess.Popen([*command, "--rules", json.dumps(rules)], stdout=subprocess.PIPE, text=True)
        super().__init__(int(self.process.stdout.readline().split()[-1]), **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def lost(self, *arguments, **options):
        """The connection is closed without a whole reply."""
        try:
            self.call(*arguments, **options)
        except (ConnectionError, http.client.HTTPException):
            return True
        return False

    def control(self, method, name, body=None):
        reply = self.send(method, f"/__proxy__/{name}", json.dumps(body).encode() if body is not None else b"")
        return reply.status, json.loads(reply.body)


def check_proxy_forwards():
    whole = os.urandom(20 << 20)
    path = FOLDER + "forwarded =+%ä"
    with Proxy() as proxy:
        port = proxy.connection.port
        expect("put of 20 MiB", proxy.call("PUT", path, body=whole).code, "200")
        used = proxy.connection.sock
        expect("get", proxy.call("GET", path).body == whole, True)

        def put_and_get(number, _):
            client = Client(port)
            put = client.call("PUT", f"{path}{number}", body=whole)
            return put.code, client.call("GET", f"{path}{number}").body == whole

        expect("put and get by 4 at once", in_threads(4, put_and_get), [("200", True)] * 4)
        expect("list", [len(keys) for _, keys in pages(PREFIX + "forwarded", proxy, **{"max-keys": 2})], [2, 2, 1])
        expect("refusals", Client(port, secret="KS").call("GET", path).code, "403 SignatureDoesNotMatch")
        reply = proxy.call("HEAD", path)
        expect("HEAD", (reply.status, reply.headers.get("content-length"), reply.body), (200, str(len(whole)), b""))
        expect("DELETE", proxy.call("DELETE", path).status, 204)
        expect("the connection is kept", used is not None and proxy.connection.sock is used, True)
    with Proxy() as proxy, socket.create_connection(("127.0.0.1", proxy.connection.port), timeout=10) as raw:
        raw.sendall(b"PUT /cairn/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
        expect("Expect: 100-continue", raw.recv(1000).split(b"\r\n")[0], b"HTTP/1.1 100 Continue")
        raw.sendall(b"x")
        expect("the reply then", raw.recv(1000).split(b"\r\n")[0], b"HTTP/1.1 403 Forbidden")


def check_proxy_drop():
    path = FOLDER + "dropped"
    with Proxy({"do": "drop", "kind": "put", "nth": 2}) as proxy:
        expect("first", proxy.call("PUT", path, body=b"1").code, "200")
        expect("second", proxy.lost("PUT", path, body=b"2"), True)
        expect("content", server.call("GET", path).body, b"1")
        expect("third", proxy.call("PUT", path, body=b"3").code, "200")


def check_proxy_lose():
    path = FOLDER + "lost"
    with Proxy({"do": "lose", "kind": "put", "times": 1}) as proxy:
        expect("first", proxy.lost("PUT", path, body=b"1"), True)
        expect("content", server.call("GET", path).body, b"1")
        expect("second", proxy.call("PUT", path, body=b"2").code, "200")


def check_proxy_late():
    path = FOLDER + "late"
    with Proxy({"do": "late", "kind": "put", "seconds": 2}) as proxy:
        expect("put", proxy.lost("PUT", path, body=b"1"), True)
        expect("at first", server.call("HEAD", path).status, 404)
        end = time.monotonic() + 20
        while server.call("HEAD", path).status != 200 and time.monotonic() < end:
            time.sleep(0.1)
        expect("later", server.call("GET", path).body, b"1")


def check_proxy_delay():
    path = FOLDER + "delayed"
    with Proxy({"do": "delay", "seconds": 1, "times": 1}) as proxy:
        begin = time.monotonic()
        expect("put", proxy.call("PUT", path, body=b"1").code, "200")
        middle = time.monotonic()
        expect("get", proxy.call("GET", path).body, b"1")
        expect("a delay", middle - begin >= 1, True)
        expect("once", time.monotonic() - middle < 1, True)


def check_proxy_twice():
    path = FOLDER + "twice"
    with Proxy({"do": "twice", "kind": "put"}) as proxy:
        expect("put", proxy.call("PUT", path, body=b"1", If_None_Match="*").code, "412 PreconditionFailed")
        expect("content", server.call("GET", path).body, b"1")
        expect("counted once", proxy.control("GET", "counts")[1]["requests"], {"put": 1})


def check_proxy_cut():
    path, whole = FOLDER + "cut", os.urandom(1 << 20)
    server.call("PUT", path, body=whole)
    with Proxy({"do": "cut"}) as proxy:
        try:
            proxy.call("GET", path)
            expect("get", "whole", "cut")
        except http.client.IncompleteRead as error:
            expect("get", error.partial == whole[:len(whole) // 2], True)
        expect("put", proxy.lost("PUT", path, body=b"1"), True)
        expect("content", server.call("GET", path).body, b"1")
        expect("list", proxy.lost("GET", BUCKET, {"list-type": 2}), True)


def check_proxy_answers():
    path = FOLDER + "answered"
    answers = {"error": "500 InternalError", "slow_down": "503 SlowDown", "expired": "403 ExpiredToken",
               "missing": "404 NoSuchKey", "error_body": "200 InternalError"}
    for do, code in answers.items():
        once = {"do": do, "times": 1}
        with Proxy(once, {**once, "forward": True}, {**once, "status": 400}) as proxy:
            server.call("DELETE", path)
            expect(do, proxy.call("PUT", path, body=b"1").code, code)
            expect(f"{do}: content", server.call("GET", path).status, 404)
            expect(f"{do}, forwarded", proxy.call("PUT", path, body=b"2").code, code)
            expect(f"{do}, forwarded: content", server.call("GET", path).body, b"2")
            expect(f"{do} with a status", proxy.call("HEAD", path).code, "400")
            expect(f"{do}: later", proxy.call("GET", path).body, b"2")


def check_proxy_skew():
    path = FOLDER + "skewed"

    def minutes_ahead(reply):
        return round((email.utils.parsedate_to_datetime(reply.headers["date"]).timestamp() - time.time()) / 60)

    with Proxy({"do": "skew", "kind": "put", "times": 1, "seconds": -3600, "lasts": 6}) as proxy:
        port = proxy.connection.port
        reply = proxy.call("PUT", path, body=b"1")
        expect("refused", reply.code, "403 RequestTimeTooSkewed")
        expect("its date", minutes_ahead(reply), -60)
        client = Client(port, ahead=-3600)
        reply = client.call("PUT", path, body=b"2", x_amz_meta_attempt="8a1f")
        expect("by the server's clock", reply.code, "200")
        expect("the next date", minutes_ahead(reply), -60)
        expect("get by it", client.call("GET", path).body, b"2")
        expect("again by the own clock", proxy.call("GET", path).code, "403 RequestTimeTooSkewed")
        expect("wrong secret", Client(port, secret="KS", ahead=-3600).call("GET", path).status, 403)
        expect("the last", client.call("HEAD", path).headers.get("x-amz-meta-attempt"), "8a1f")
        expect("the clock is right again", client.call("GET", path).code, "403 RequestTimeTooSkewed")
        expect("by the own clock", proxy.call("GET", path).body, b"2")


def check_proxy_rules():
    path = FOLDER + "ruled"
    server.call("PUT", path)
    with Proxy({"do": "error", "p": 0.5}) as proxy:
        rules = [{"do": "error", "p": 0.5}]

        def draw():
            return [proxy.call("HEAD", path).status for _ in range(40)]

        first = draw()
        expect("both happen", set(first), {200, 500})
        expect("reset", proxy.control("POST", "reset"), (200, {}))
        expect("no rules", set(draw()), {200})
        proxy.control("POST", "reset")
        proxy.control("PUT", "rules", rules)
        expect("the same seed", draw(), first)
        proxy.control("POST", "reset", 2)
        proxy.control("PUT", "rules", rules)
        expect("another seed", draw() != first, True)
        proxy.control("POST", "reset")
        heads = {"do": "error", "kind": ["head", "list"], "nth": [2, 3]}
        proxy.control("PUT", "rules", [heads, {"do": "missing", "path": "ruled$"}])
        found = [proxy.call(method, path).status for method in ("HEAD", "HEAD", "HEAD", "HEAD", "GET")]
        expect("kinds, numbers, order", found, [404, 500, 500, 404, 404])
        expect("another path", proxy.call("GET", path + "2", {"versionId": "null"}).code, "404 NoSuchKey")
        counts = proxy.control("GET", "counts")[1]
        expect("requests", counts["requests"], {"head": 4, "get": 2})
        expect("fired", counts["fired"], {"error": 2, "missing": 3})
        expect("rules", counts["rules"], [{"seen": 4, "fired": 2}, {"seen": 5, "fired": 3}])
        expect("log", counts["log"][1:3], [f"head {path} error"] * 2)
        for wrong in ([{"do": "none"}], [{"do": "drop", "often": 1}], [{"do": "drop", "path": "("}], [{}], 7, ["drop"]):
            expect(f"rules {wrong}", proxy.control("PUT", "rules", wrong)[0], 400)
        expect("no such path", proxy.control("GET", "nothing")[0], 400)
        expect("the rules are as before", len(proxy.control("GET", "counts")[1]["rules"]), 2)


def check_proxy_kinds():
    path = FOLDER + "kinds"
    with Proxy() as proxy:
        upload_id, completion = upload(path, [(1, b"x")], proxy)
        proxy.call("GET", BUCKET, {"uploads": "", "prefix": PREFIX})
        proxy.call("POST", path, {"uploadId": upload_id}, completion)
        proxy.call("DELETE", path, {"uploadId": upload(path, [], proxy)[0]})
        next(pages(PREFIX, proxy))
        for method in ("PUT", "GET", "HEAD", "DELETE"):
            proxy.call(method, path)
        proxy.call("HEAD", BUCKET)
        once = ["part", "complete", "abort", "list", "uploads", "put", "get", "head", "delete", "other"]
        expect("counts", proxy.control("GET", "counts")[1]["requests"], {"create": 2, **dict.fromkeys(once, 1)})


def remove_all():
    reply = server.call("GET", BUCKET, {"uploads": "", "prefix": PREFIX})
    for key, upload_id in zip(texts(reply, "Key"), texts(reply, "UploadId")):
        server.call("DELETE", f"{BUCKET}/{key}", {"uploadId": upload_id})
    keys = [key for _, found in pages(PREFIX) for key in found]
    in_threads(8, lambda number, client: [client.call("DELETE", f"{BUCKET}/{key}") for key in keys[number::8]])


def main():
    global running
    checks = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
    for running in sys.argv[2:] or checks:
        begin = time.monotonic()
        try:
            checks[running]()
        except Exception:
            failures[running].append(traceback.format_exc())
        result = "failed" if running in failures else "passed"
        print(f"{result}: {running}, {time.monotonic() - begin:.1f} s", flush=True)
        for failure in failures.get(running, ()):
            print(f"  {failure}")
    remove_all()
    print(f"failed: {' '.join(failures)}" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
