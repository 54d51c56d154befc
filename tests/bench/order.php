<?php
// A small shop's order: a row in SQLite as durable as SQLite is by default
// (a rollback journal, synchronous=FULL), and a line in a ledger.
$db = new PDO('sqlite:' . getenv('SHOP_DIR') . '/orders.db');
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$insert = $db->prepare('INSERT INTO orders(item, amount) VALUES (?, ?)');
$insert->execute([$_POST['item'], $_POST['amount']]);
$id = $db->lastInsertId();
file_put_contents(getenv('SHOP_DIR') . '/ledger',
    "$id {$_POST['amount']}\n", FILE_APPEND | LOCK_EX);
http_response_code(201);
header('Content-Type: application/json');
echo json_encode(['order' => (int)$id, 'amount' => $_POST['amount']]), "\n";
