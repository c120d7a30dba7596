#!/bin/sh
# Signs an event of your own as the service does, and posts it: to try a receiver by hand, with curl and openssl alone.
#   WEBHOOK_SECRET=whsec_… ./send.sh URL BODY [TIMESTAMP]
# BODY is a file with the event as JSON; its `id` and `type` are what is signed and told. Prints the status of the answer.
set -eu
[ $# = 2 ] || [ $# = 3 ] || { echo 'usage: WEBHOOK_SECRET=whsec_… send.sh URL BODY [TIMESTAMP]' >&2; exit 2; }
url=$1 body=$2 time=${3:-$(date +%s)}
first() { tr -d '\n' <"$body" | grep -o "\"$1\" *: *\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

id=$(first id)
hexkey=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
standard="v1,$({ printf '%s.%s.' "$id" "$time"; cat "$body"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$hexkey" -binary | openssl base64 -A)"
vendor="sha256=$(openssl dgst -sha256 -mac HMAC -macopt "key:$WEBHOOK_SECRET" -r "$body" | cut -d ' ' -f 1)"
exec curl --silent --show-error --max-time 15 --output /dev/null --write-out '%{http_code}\n' --data-binary "@$body" \
  -H 'Content-Type: application/json' -H "X-Vendor-Event: $(first type)" -H "X-Vendor-Signature: $vendor" \
  -H "webhook-id: $id" -H "webhook-timestamp: $time" -H "webhook-signature: $standard" "$url"
