#!/bin/sh
# Verifies an outbound webhook with openssl alone: both signatures over the exact bytes, and that it is not older than five minutes.
#   WEBHOOK_SECRET=whsec_… ./verify.sh HEADERS BODY
# HEADERS is a file of lines "name: value", BODY a file of the body's bytes. Exit code 0: verified; 1: not, with a line that says why.
# Not for a server: openssl takes keys as arguments, which others on the machine see.
set -eu
export LC_ALL=C
[ $# = 2 ] || { echo 'usage: WEBHOOK_SECRET=whsec_… verify.sh HEADERS BODY' >&2; exit 2; }
headers=$1 body=$2

header() { tr -d '\r' <"$headers" | awk -v name="$1" 'index($0, ":") && tolower(substr($0, 1, index($0, ":") - 1)) == name { sub(/^[^:]*:[ \t]*/, ""); print; exit }'; }
no() { echo "not verified: $*"; exit 1; }
# Compares what is made of both: where they differ tells nothing then.
same() { [ "$(printf %s "$1" | openssl dgst -sha256 -hmac compare)" = "$(printf %s "$2" | openssl dgst -sha256 -hmac compare)" ]; }

id=$(header webhook-id) time=$(header webhook-timestamp)
case $id in '' | *[!A-Za-z0-9_-]*) no 'webhook-id is missing or malformed' ;; esac
case $time in '' | *[!0-9]* | ?????????????*) no 'webhook-timestamp is missing or malformed' ;; esac
age=$(($(date +%s) - $time))
[ $age -le 300 ] && [ $age -ge -300 ] || no "its timestamp is $age seconds old"

hexkey=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
standard="v1,$({ printf '%s.%s.' "$id" "$time"; cat "$body"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hexkey" -binary | openssl base64 -A)"
vendor="sha256=$(openssl dgst -sha256 -mac HMAC -macopt "key:$WEBHOOK_SECRET" -r "$body" | cut -d ' ' -f 1)"

signed=no
for sent in $(header webhook-signature); do same "$sent" "$standard" && signed=yes; done
[ $signed = yes ] || no 'webhook-signature does not match'
# While a secret is rotated, the former ones sign the second and third of these.
same "$(header x-vendor-signature)" "$vendor" || same "$(header x-vendor-signature-previous)" "$vendor" ||
  same "$(header x-vendor-signature-older)" "$vendor" || no 'X-Vendor-Signature does not match'
echo verified
