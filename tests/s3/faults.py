# SPDX-License-Identifier: MIT
"""The rules of proxy.py: which requests and replies it loses, delays, repeats or falsifies. They are a JSON list of
objects; the first rule that fires for a request decides:

    do       what happens:
      drop     the connection is closed before the request is forwarded
      lose     forwarded, and the connection is closed in place of a reply
      late     the connection is closed, and the request is forwarded after `seconds` (1)
      delay    forwarded, and the reply is sent after `seconds` (1)
      twice    forwarded twice; the second reply is sent
      cut      forwarded, and the connection is closed after half of the reply's body; of one without, in its first line
      error, slow_down, error_body, expired, missing
               500 InternalError, 503 SlowDown, 200 with an <Error> document, 403 ExpiredToken, 404 NoSuchKey
      skew     the server's clock is `seconds` (3600) ahead for `lasts` requests (no end), this one included: its Date
               headers, and 403 RequestTimeTooSkewed for signatures more than 15 minutes off. Its secret is SK.
    kind     only requests of this kind or these kinds: get head put delete, create part complete abort (of a multipart
             upload), list, uploads (the list of them), other
    path     only where this regular expression is found in the path and query as they were sent
    nth      only the nth request, or these requests, from 1, of those with this kind and path
    p        with this probability (1)
    times    at most this often
    forward  true, with the five replies: the request is forwarded, and only its reply replaced
    status   with the five replies: another status

With one connection at a time, the same seed, rules and requests give the same faults.
"""

import collections
import random
import re
import threading

ANSWERS = {"error": (500, "InternalError"), "slow_down": (503, "SlowDown"), "error_body": (200, "InternalError"),
           "expired": (403, "ExpiredToken"), "missing": (404, "NoSuchKey")}
ACTIONS = {"drop", "lose", "late", "delay", "twice", "cut", "skew", *ANSWERS}
FIELDS = {"do", "kind", "path", "nth", "p", "times", "forward", "status", "seconds", "lasts"}


def kind_of(method, target):
    path, _, query = target.partition("?")
    names = {pair.partition("=")[0] for pair in query.split("&")}
    if "/" not in path.strip("/"):
        return "other" if method != "GET" else "uploads" if "uploads" in names else "list"
    if "uploadId" in names:
        return {"PUT": "part", "POST": "complete", "DELETE": "abort"}.get(method, "other")
    return method.lower() if method != "POST" else "create" if "uploads" in names else "other"


def listed(value):
    return value if isinstance(value, list) else [value]


class Faults:
    """The rules, what they have counted, and the random numbers; all connections share them."""

    def __init__(self, seed, rules):
        self.lock = threading.Lock()
        self.reset(seed)
        self.set_rules(rules)

    def reset(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.requests, self.fired = collections.Counter(), collections.Counter()
        self.log = collections.deque(maxlen=1000)
        self.set_rules([])

    def set_rules(self, rules):
        for rule in rules:
            if rule["do"] not in ACTIONS or rule.keys() - FIELDS:
                raise ValueError(f"not a rule: {rule}")
            re.compile(rule.get("path", ""))
        self.rules, self.counts = rules, [{"seen": 0, "fired": 0} for _ in rules]
        self.ahead, self.skewed = 0, 0  # seconds, and for how many requests

    def rule_for(self, kind, target):
        """Counts a request. Returns the rule that fires, or an empty one, and how many seconds the clock is ahead."""
        with self.lock:
            chosen = {}
            self.requests[kind] += 1
            for rule, count in zip(self.rules, self.counts):
                if kind not in listed(rule.get("kind", kind)) or not re.search(rule.get("path", ""), target):
                    continue
                count["seen"] += 1
                drawn = self.random.random() < rule.get("p", 1)
                is_nth = count["seen"] in listed(rule.get("nth", count["seen"]))
                if drawn and is_nth and not chosen and count["fired"] < rule.get("times", float("inf")):
                    chosen = rule
                    count["fired"] += 1
                    self.fired[rule["do"]] += 1
            if chosen.get("do") == "skew" and self.skewed <= 0:
                self.ahead, self.skewed = chosen.get("seconds", 3600), chosen.get("lasts", float("inf"))
            self.skewed -= 1
            self.log.append(f"{kind} {target} {chosen.get('do', '')}".rstrip())
            return chosen, self.ahead if self.skewed >= 0 else 0
