<?php
/*
 * A plain form: wrong, it comes back with a 200; right, it orders.  ?do= says
 * that it is slow about it, or that the first try has no luck.
 */
require 'ledger.php';

/* Wait until the test says so; it learns which process waits. */
function wait_for_test()
{
	global $run;
	file_put_contents("$run/waits", getmypid() . "\n", FILE_APPEND);
	fgets(fopen("$run/go", 'r'));
}

$amount = $_POST['amount'] ?? '';
if (!preg_match('/^[0-9a-f]+$/', $amount)) {
	book("wrong $amount");
	echo '<form method="post"><p>What amount?</p></form>';
	exit;
}
$do = $_GET['do'] ?? '';
if ($do === 'slow')
	wait_for_test();
if ($do === 'busy' &&
    !preg_match("/^busy $amount\$/m", file_get_contents("$run/ledger"))) {
	book("busy $amount");
	wait_for_test();
	http_response_code(503);
	header('Retry-After: 1');
	exit;
}
header('Location: /thanks.php?order=' . book($amount), true, 303);
