<?php
/* A merchant's billing as Payme calls it: always 200, errors in the body. */
require 'ledger.php';

$call = json_decode(file_get_contents('php://input'), true);

function say($what)
{
	global $call;
	answer_json($what + ['id' => $call['id']], 'text/json; charset=UTF-8');
}

function fail($code)
{
	say(['error' => ['code' => $code, 'message' => ['en' => 'No']]]);
}

/* The number makes two times differ within one millisecond. */
function now($number)
{
	return intdiv(hrtime(true), 1000000) + $number * 1000000;
}

if (($_SERVER['PHP_AUTH_PW'] ?? '') !== 'secret')
	fail(-32504);
$id = $call['params']['id'];
$method = $call['method'];
if ($method === 'CreateTransaction')
	query('INSERT OR REPLACE INTO transactions VALUES (?, 1, ?, 0)', $id,
	    now(book("create $id")));
$row = query('SELECT * FROM transactions WHERE id = ?', $id);
if (!isset($row['state']))
	fail(-31003);
if ($method === 'PerformTransaction') {
	$row['perform_time'] = now(book("perform $id"));
	$row['state'] = 2;
	query('UPDATE transactions SET state = 2, perform_time = ?' .
	    ' WHERE id = ?', $row['perform_time'], $id);
}
unset($row['id']);
say(['result' => $row + ['transaction' => $id]]);
