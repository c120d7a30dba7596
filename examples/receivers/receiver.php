<?php
// A receiver of outbound webhooks for PHP 8 or newer: put it behind your web server, or try it with
//   WEBHOOK_SECRET=whsec_… INBOX=inbox php -S 127.0.0.1:3000 receiver.php
declare(strict_types=1);

const TOLERANCE_S = 300;
const LONGEST_BODY = 1024 * 1024;
$secret = getenv('WEBHOOK_SECRET');
$inbox = getenv('INBOX') ?: 'inbox';
if (!is_dir($inbox)) {
    mkdir($inbox, 0700, true);
}

// $body: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one still does.
function verified(array $server, string $body, string $secret): bool
{
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $time = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!preg_match('/^[A-Za-z0-9_-]{1,64}\z/', $id) || !preg_match('/^[0-9]{1,12}\z/', $time) || abs(time() - (int) $time) > TOLERANCE_S) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    $standard = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $vendor = 'sha256=' . hash_hmac('sha256', $body, $secret);
    $signed = false;
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $sent) {
        $signed = hash_equals($standard, $sent) || $signed;
    }
    return $signed && (hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE'] ?? '')
        || hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE_PREVIOUS'] ?? '')
        || hash_equals($vendor, $server['HTTP_X_VENDOR_SIGNATURE_OLDER'] ?? ''));
}

// Keeps the event under its id; false: it is there already. A database does it with a unique key.
function keep(string $inbox, string $id, string $body): bool
{
    $draft = tempnam($inbox, 'draft');
    file_put_contents($draft, $body) === strlen($body) || throw new RuntimeException('the event cannot be kept');
    $kept = @link($draft, "$inbox/$id.json");
    unlink($draft);
    if (!$kept && !file_exists("$inbox/$id.json")) {
        throw new RuntimeException('the event cannot be kept');
    }
    return $kept;
}

// Events of a delivery may overtake each other: an older one than the newest known changes nothing.
function is_news(string $inbox, array $event): bool
{
    if (!isset($event['deliveryId'], $event['delivery'])) {
        return true; // of something else: look at its type
    }
    $lock = fopen("$inbox/lock", 'c');
    flock($lock, LOCK_EX);
    $file = "$inbox/{$event['deliveryId']}.sequence";
    $known = is_file($file) ? (int) file_get_contents($file) : 0;
    $news = $event['delivery']['sequence'] > $known;
    if ($news) {
        file_put_contents("$file.draft", (string) $event['delivery']['sequence']);
        rename("$file.draft", $file);
    }
    fclose($lock);
    return $news;
}

// What your shop does with it. It runs after the answer where the server is PHP-FPM. Ignore types that you do not know.
function work(string $inbox, array $event): void
{
    $status = $event['delivery']['status'] ?? '-';
    tell(is_news($inbox, $event) ? "{$event['type']} " . ($event['deliveryId'] ?? '-') . " $status" : "old {$event['id']}");
}

function tell(string $line): void
{
    file_put_contents('php://stdout', "$line\n");
}

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    http_response_code(405);
    return;
}
$body = (string) file_get_contents('php://input', false, null, 0, LONGEST_BODY + 1);
if (strlen($body) > LONGEST_BODY) {
    http_response_code(413);
    return;
}
if (!verified($_SERVER, $body, $secret)) {
    http_response_code(401);
    return;
}
$id = $_SERVER['HTTP_WEBHOOK_ID'];
$fresh = keep($inbox, $id, $body);
http_response_code(200);
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request(); // it is kept: what follows may take its time
}
if ($fresh) {
    work($inbox, json_decode($body, true, 64, JSON_THROW_ON_ERROR));
} else {
    tell("duplicate $id");
}
