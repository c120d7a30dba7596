"""A receiver of outbound webhooks for Python 3.9 or newer, with nothing but its standard library.

    WEBHOOK_SECRET=whsec_… PORT=3000 INBOX=inbox python3 receiver.py
"""
import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SECRET = os.environ["WEBHOOK_SECRET"]
INBOX = Path(os.environ.get("INBOX", "inbox"))
TOLERANCE_S = 300
LONGEST_BODY = 1024 * 1024
INBOX.mkdir(parents=True, exist_ok=True)
one_at_a_time = threading.Lock()


def equal(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(), b.encode())


def refusal_of(headers, body: bytes):
    """Why it is not taken; None: it is. `body`: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one still does."""
    ident = headers.get("webhook-id", "")
    stamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", ident):
        return "webhook-id is missing or has another form"
    if not re.fullmatch(r"[0-9]{1,12}", stamp):
        return "webhook-timestamp is missing or has another form"
    if abs(time.time() - int(stamp)) > TOLERANCE_S:
        return f"webhook-timestamp is more than {TOLERANCE_S} seconds away"
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    mac = hmac.new(key, f"{ident}.{stamp}.".encode() + body, hashlib.sha256).digest()
    standard = "v1," + base64.b64encode(mac).decode()
    vendor = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    if not any(equal(sent, standard) for sent in headers.get("webhook-signature", "").split(" ")):
        return "webhook-signature is not of this secret and body"
    if not any(equal(headers.get(f"x-vendor-signature{which}", ""), vendor) for which in ("", "-previous", "-older")):
        return "x-vendor-signature is not of this secret and body"
    return None


def keep(ident: str, body: bytes) -> bool:
    """Keeps the event under its id; false: it is there already. A database does it with a unique key."""
    draft = INBOX / f"{ident}.{os.getpid()}.{threading.get_ident()}.draft"
    draft.write_bytes(body)
    try:
        os.link(draft, INBOX / f"{ident}.json")
        return True
    except FileExistsError:
        return False
    finally:
        draft.unlink()


def is_news(event) -> bool:
    """Events of a delivery may overtake each other: an older one than the newest known changes nothing."""
    if not event.get("deliveryId") or not event.get("delivery"):
        return True  # of something else: look at its type
    file = INBOX / f"{event['deliveryId']}.sequence"
    known = int(file.read_text()) if file.exists() else 0
    sequence = event["delivery"]["sequence"]
    if sequence <= known:
        return False
    draft = file.with_suffix(".draft")
    draft.write_text(str(sequence))
    draft.replace(file)
    return True


def work(event) -> None:
    """Handles the event after the answer was sent. Ignore types that you do not know."""
    if not is_news(event):
        print(f"old {event['id']}", flush=True)
        return
    status = (event.get("delivery") or {}).get("status", "-")
    print(f"{event['type']} {event.get('deliveryId') or '-'} {status}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if not 0 <= length <= LONGEST_BODY:
            return self.refuse(413, "the body is longer than 1 MiB")
        body = self.rfile.read(length)
        why = refusal_of(self.headers, body)
        if why:
            return self.refuse(401, why)
        ident = self.headers["webhook-id"]
        fresh = keep(ident, body)
        self.answer(200)  # it is kept: what follows may take its time
        with one_at_a_time:
            if fresh:
                work(json.loads(body))
            else:
                print(f"duplicate {ident}", flush=True)

    def do_GET(self):
        self.refuse(405, "it is no POST")

    def refuse(self, status, why):
        print(f"refused {status}: {why}", flush=True)
        self.answer(status)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
