<?php
/* What charge.c does, by php-fpm. */
usleep((int)($_POST['before'] ?? 0) * 1000);
file_put_contents(dirname($_SERVER['DOCUMENT_ROOT']) . '/run/ledger',
    ($_POST['intent'] ?? 'none') . "\n", FILE_APPEND);
usleep((int)($_POST['after'] ?? 0) * 1000);
$number = getmypid() . '-' . hrtime(true);
http_response_code(201);
header('Content-Type: application/json');
header("Location: /charge.php?number=$number");
echo json_encode(['number' => $number,
    'fill' => str_repeat('x', (int)($_POST['fill'] ?? 0))]), "\n";
