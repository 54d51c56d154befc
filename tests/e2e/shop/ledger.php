<?php
/*
 * What the small applications share: orders in SQLite, a ledger outside, and
 * transactions.  None of them looks whether a call came before.
 */
$run = dirname($_SERVER['DOCUMENT_ROOT']) . '/run';

function database()
{
	global $run;
	$db = new SQLite3($run . '/orders.sqlite');
	$db->busyTimeout(10000);
	$db->exec('CREATE TABLE IF NOT EXISTS entries' .
	    ' (id INTEGER PRIMARY KEY, what TEXT)');
	$db->exec('CREATE TABLE IF NOT EXISTS transactions' .
	    ' (id TEXT PRIMARY KEY, state INTEGER,' .
	    ' create_time INTEGER, perform_time INTEGER)');
	return $db;
}

function query($text, ...$values)
{
	$db = database();
	$statement = $db->prepare($text);
	foreach ($values as $i => $value)
		$statement->bindValue($i + 1, $value);
	$result = $statement->execute();
	/* To fetch from an INSERT would run it again. */
	$row = $result->numColumns() ? $result->fetchArray(SQLITE3_ASSOC) : null;
	return $row ?: ['id' => $db->lastInsertRowID()];
}

/* Something that must happen once; the number is never the same twice. */
function book($what)
{
	global $run;
	file_put_contents("$run/ledger", "$what\n", FILE_APPEND | LOCK_EX);
	return query('INSERT INTO entries (what) VALUES (?)', $what)['id'];
}

function answer_json($value, $type = 'application/json')
{
	header("Content-Type: $type");
	echo json_encode($value);
	exit;
}
