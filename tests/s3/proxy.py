# SPDX-License-Identifier: MIT
"""An HTTP proxy in front of an S3 server that loses, delays, repeats and falsifies requests and replies.

    proxy.py --listen PORT --to PORT [--seed N] [--rules RULES]

RULES: as in faults.py. Prints `listening on PORT` (--listen 0: any free one). Host is forwarded as it is, so that
signatures stay valid. Ends with the process that started it. Requests to /__proxy__/ are for tests:

    PUT /__proxy__/rules   sets rules; counts of requests and random numbers go on, a false clock ends
    POST /__proxy__/reset  no rules, counts 0, and random numbers from the seed again, or from the one in the body
    GET /__proxy__/counts  {"requests": {kind: count}, "fired": {do: count}, "rules": [{"seen": count, "fired": count}],
                            "log": [the last 1,000 requests: "kind path?query do"]}
"""

import argparse
import collections
import email.utils
import http.client
import http.server
import io
import json
import os
import re
import socket
import socketserver
import time

import client
from faults import ANSWERS, Faults, kind_of

PIECE = 1 << 18
NOT_FORWARDED = {"connection", "keep-alive", "expect", "transfer-encoding"}


class Connection(http.server.BaseHTTPRequestHandler):
    """One of a client. ConnectionError closes it without more of a reply."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    ahead = 0

    def handle_request(self):
        self.target = self.requestline.split(" ")[1]  # self.path has one / where the client sent several
        self.left = int(self.headers.get("Content-Length", 0))  # of the body
        try:
            if "Transfer-Encoding" in self.headers:
                raise ConnectionError
            if self.target.startswith("/__proxy__/"):
                self.control(f"{self.command} {self.target}", b"".join(self.body()))
            else:
                rule, self.ahead = self.server.faults.rule_for(kind_of(self.command, self.target), self.target)
                self.apply(rule)
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    def log_message(self, *_):
        pass

    def control(self, name, body):
        faults = self.server.faults
        status, reply = 200, {}
        try:
            with faults.lock:
                if name == "PUT /__proxy__/rules":
                    faults.set_rules(json.loads(body))
                elif name == "POST /__proxy__/reset":
                    faults.reset(int(body or faults.seed))
                elif name == "GET /__proxy__/counts":
                    reply = {"requests": faults.requests, "fired": faults.fired, "rules": faults.counts}
                    reply["log"] = list(faults.log)
                else:
                    raise ValueError("no such path")
        except (ValueError, LookupError, AttributeError, TypeError, re.error) as error:
            status, reply = 400, {"error": repr(error)}
        self.reply(status, json.dumps(reply).encode(), "application/json")

    def apply(self, rule):
        action = rule.get("do")
        body = self.body()
        if self.ahead and not client.is_near(self.headers.get("x-amz-date", ""), self.ahead):
            return self.answer(403, "RequestTimeTooSkewed")
        if action == "drop":
            raise ConnectionError
        if action in ANSWERS:
            if rule.get("forward"):
                self.forward(body).read()
            return self.answer(rule.get("status", ANSWERS[action][0]), ANSWERS[action][1])
        if action in ("twice", "late"):
            body = list(body)
        if action == "late":
            self.connection.shutdown(socket.SHUT_RDWR)
            time.sleep(rule.get("seconds", 1))
        if action == "twice":
            self.forward(body).read()
        reply = self.forward(body)
        if action in ("lose", "late"):
            reply.read()
            raise ConnectionError
        if action == "delay":
            time.sleep(rule.get("seconds", 1))
        self.pass_on(reply, action == "cut")

    def body(self):
        """The pieces of the request's body as they come."""
        while self.left:
            piece = self.rfile.read1(min(self.left, PIECE))
            if not piece:
                raise ConnectionError
            self.left -= len(piece)
            yield piece

    def forward(self, body):
        """Sends the request on a new connection, and returns the server's reply, of which the body is unread."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_FORWARDED}
        if self.ahead:
            headers = {name.lower(): value for name, value in headers.items()}
            headers |= client.signed_now(self.command, self.target, headers, "SK")
        with socket.create_connection(("127.0.0.1", self.server.to)) as server:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.send_head(server.sendall, f"{self.command} {self.target} HTTP/1.1", headers.items())
            for piece in body:
                try:
                    server.sendall(piece)
                except OSError:  # the server has replied before it read all
                    break
            reply = http.client.HTTPResponse(server, method=self.command)  # keeps the connection
            reply.begin()
            return reply

    @staticmethod
    def send_head(send, first, headers):
        send("\r\n".join([first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1"))

    def pass_on(self, reply, cut):
        source, length = reply, reply.length
        headers = {name: value for name, value in reply.getheaders() if name.lower() not in NOT_FORWARDED}
        if self.ahead:
            headers["Date"] = self.date()
        if length is None:  # in chunks, or up to the connection's end
            source = io.BytesIO(reply.read())
            headers["Content-Length"] = length = len(source.getbuffer())
        if cut and not length:
            self.wfile.write(b"HTTP/1.")
            raise ConnectionError
        self.send_head(self.wfile.write, f"HTTP/1.1 {reply.status} {reply.reason}", headers.items())
        left = length // 2 if cut else length
        while left:
            piece = source.read(min(left, PIECE))
            self.wfile.write(piece)
            left -= len(piece)
            if not piece:
                raise ConnectionError
        if cut:
            raise ConnectionError
        collections.deque(self.body(), 0)  # what the server has not read

    def answer(self, status, code):
        collections.deque(self.body(), 0)
        text = f"<Error><Code>{code}</Code><Message>A rule of the proxy.</Message></Error>"
        self.reply(status, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode(), "application/xml")

    def reply(self, status, body, content_type):
        headers = {"Date": self.date(), "Content-Type": content_type, "Content-Length": len(body)}
        self.send_head(self.wfile.write, f"HTTP/1.1 {status} {http.client.responses[status]}", headers.items())
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def date(self):
        return email.utils.format_datetime(client.utc(self.ahead), usegmt=True)


class Proxy(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 128
    parent = os.getppid()

    def service_actions(self):  # twice a second
        if os.getppid() != self.parent:
            os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    for name, kind, default in ("listen", int, None), ("to", int, None), ("seed", int, 1), ("rules", json.loads, []):
        parser.add_argument(f"--{name}", type=kind, default=default, required=default is None)
    options = parser.parse_args()
    proxy = Proxy(("127.0.0.1", options.listen), Connection)
    proxy.to, proxy.faults = options.to, Faults(options.seed, options.rules)
    print(f"listening on {proxy.server_address[1]}", flush=True)
    proxy.serve_forever()


if __name__ == "__main__":
    main()
