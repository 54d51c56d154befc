<?php
/*
 * A small shop that knows nothing of keys: every POST charges, and each charge
 * is a line in a ledger outside.  ?do= says what happens then.
 */
$run = dirname($_SERVER['DOCUMENT_ROOT']) . '/run';

function order($run, $amount)
{
	$db = new SQLite3($run . '/orders.sqlite');
	$db->busyTimeout(10000);
	$db->exec('CREATE TABLE IF NOT EXISTS orders' .
	    ' (id INTEGER PRIMARY KEY, amount TEXT)');
	$insert = $db->prepare('INSERT INTO orders (amount) VALUES (?)');
	$insert->bindValue(1, $amount);
	$insert->execute();
	return $db->lastInsertRowID();
}

/* Wait until the test says so; it learns which process waits. */
function wait_for_test($run)
{
	file_put_contents($run . '/waits', getmypid() . "\n", FILE_APPEND);
	fgets(fopen($run . '/go', 'r'));
}

function charge($run)
{
	$amount = $_POST['amount'] ?? 'none';
	$id = order($run, $amount);
	file_put_contents($run . '/ledger', "$amount\n", FILE_APPEND | LOCK_EX);
	return $id;
}

if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
	header('Content-Type: text/plain');
	echo 'key ', $_SERVER['HTTP_IDEMPOTENCY_KEY'] ?? 'none', ' idem ',
	    count(preg_grep('/IDEM_/', array_keys($_SERVER))), "\n";
	exit;
}
if (($_GET['do'] ?? '') === 'waitfirst')
	wait_for_test($run);
$id = charge($run);
switch ($_GET['do'] ?? '') {
case '':
	http_response_code(201);
	header('Content-Type: application/json');
	header("Location: /shop.php?order=$id");
	setcookie('seen', '1');
	echo json_encode(['id' => $id]), "\n";
	break;
case 'fatal':
	echo 'charged';
	no_such_function();
	break;
case 'wait':
	header('Content-Type: text/plain');
	echo 'beginning ';
	while (ob_get_level() > 0)
		ob_end_flush();
	flush();
	/* fall through */
case 'waitsilent':
	wait_for_test($run);
	echo "end $id\n";
	break;
case 'redirect':
	header("Location: /thanks.php?order=$id", true, 303);
	break;
case 'status':
	http_response_code((int)$_GET['status']);
	if ($_GET['status'][0] === '3')
		header('Location: /elsewhere', true, (int)$_GET['status']);
	header('Link: </a>; rel="next"');
	header('Link: </b>; rel="prev"', false);
	echo "order $id";
	break;
case 'binary':
	header('Content-Type: application/octet-stream');
	for ($i = 0; $i < 1024; $i++)
		echo chr($i & 255);
	break;
case 'big':
	header('Content-Type: application/octet-stream');
	header('ETag: "big"');
	echo str_repeat("0123456789abcde\n", 5 * 65536);
	break;
case 'length':
	header('Content-Type: text/plain');
	echo $_SERVER['CONTENT_LENGTH'], ' ',
	    strlen(file_get_contents('php://input')), "\n";
	break;
}
