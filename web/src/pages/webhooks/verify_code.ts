// The programs that verify an event, for the receiver's maker to copy: as in the complete receivers of examples/receivers.
const NODE = `import { createHmac, timingSafeEqual } from 'node:crypto';

function equal(a, b) {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

// body: the bytes as they came.
export function verified(headers, body, secret) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': sent = '' } = headers;
  if (!id || !(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const standard = 'v1,' + createHmac('sha256', key).update(\`\${id}.\${time}.\`).update(body).digest('base64');
  const vendor = 'sha256=' + createHmac('sha256', secret).update(body).digest('hex');
  return (
    sent.split(' ').some((one) => equal(one, standard)) &&
    // Secrets that are being replaced sign the second and third.
    ['', '-previous', '-older'].some((which) => equal(headers['x-vendor-signature' + which] ?? '', vendor))
  );
}
`;

const PYTHON = `import base64, hashlib, hmac, time


def equal(a, b):
    return hmac.compare_digest(a.encode(), b.encode())


# headers: by names of any case, as those of http.server or Flask; body: the bytes as they came.
def verified(headers, body, secret):
    ident, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not ident or not stamp.isdecimal() or abs(time.time() - int(stamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{ident}.{stamp}.".encode() + body, hashlib.sha256).digest()
    standard = "v1," + base64.b64encode(mac).decode()
    vendor = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # Secrets that are being replaced sign the second and third.
    names = ("x-vendor-signature", "x-vendor-signature-previous", "x-vendor-signature-older")
    return any(equal(one, standard) for one in headers.get("webhook-signature", "").split(" ")) and any(
        equal(headers.get(name, ""), vendor) for name in names
    )
`;

const PHP = `// $server: $_SERVER; $body: file_get_contents('php://input'), the bytes as they came.
function verified(array $server, string $body, string $secret): bool
{
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $time = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if ($id === '' || !ctype_digit($time) || abs(time() - (int) $time) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    $standard = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $vendor = 'sha256=' . hash_hmac('sha256', $body, $secret);
    $signed = false;
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $sent) {
        $signed = hash_equals($standard, $sent) || $signed;
    }
    // Secrets that are being replaced sign the second and third.
    return $signed && (hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE'] ?? '')
        || hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE_PREVIOUS'] ?? '')
        || hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE_OLDER'] ?? ''));
}
`;

export const VERIFY = { node: NODE, python: PYTHON, php: PHP } as const;
export const LANGUAGES = ['node', 'python', 'php'] as const;
